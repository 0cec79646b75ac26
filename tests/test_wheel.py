"""The package list of pyproject.toml is the folders on disk; `nox -s build` checks the wheel itself."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TOOLS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
SETUPTOOLS = TOOLS["setuptools"]
TOP_FOLDERS = ("reference", "accelerated", "conformance", "reports")


NAMESPACES = ("reference", "namespaces")
"""Where the packages lie that take documented names: `optimetry.fluid` is a folder beside others, no top one."""


def package_of(folder: Path) -> str:
    parts = folder.relative_to(ROOT).parts
    return ".".join(("optimetry", *(parts[len(NAMESPACES) :] if parts[: len(NAMESPACES)] == NAMESPACES else parts)))


def packages_on_disk() -> dict[str, Path]:
    return {
        package_of(file.parent): file.parent for folder in TOP_FOLDERS for file in (ROOT / folder).rglob("__init__.py")
    }


def test_every_package_on_disk_is_listed_and_no_other() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(packages_on_disk())


def test_every_top_folder_with_code_is_mapped_to_its_package() -> None:
    roots = (ROOT, ROOT.joinpath(*NAMESPACES))
    with_code = {
        package: str(folder.relative_to(ROOT))
        for package, folder in packages_on_disk().items()
        if folder.parent in roots
    }
    assert SETUPTOOLS["package-dir"] == with_code


def test_the_import_contracts_see_every_mapped_package() -> None:
    assert sorted(TOOLS["importlinter"]["root_packages"]) == sorted(SETUPTOOLS["package-dir"])


def test_every_python_file_lies_in_a_package() -> None:
    folders = set(packages_on_disk().values())
    files = [file for folder in TOP_FOLDERS for file in (ROOT / folder).rglob("*.py")]
    published = ROOT / "reports" / "published"  # counterexamples: scripts to read and run, no modules
    assert [file for file in files if file.parent not in folders and published not in file.parents] == []


@pytest.mark.parametrize("package", SETUPTOOLS["packages"])
def test_every_package_is_marked_as_typed(package: str) -> None:
    assert (packages_on_disk()[package] / "py.typed").is_file()


def test_what_targets_are_made_of_ships() -> None:
    """Every file in the folders of targets and of the harness: programs in other languages, and what they include."""
    data = SETUPTOOLS["package-data"]
    for package, folder in packages_on_disk().items():
        if package.startswith(("optimetry.conformance.targets", "optimetry.conformance.harness")):
            patterns = ["*.py", *data["*"], *data.get(package, [])]
            files = [file for file in folder.iterdir() if file.is_file()]
            assert [file for file in files if not any(file.match(pattern) for pattern in patterns)] == []
