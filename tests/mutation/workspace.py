"""Lays out a copy of the tree in which mutmut finds the packages under the names by which they are imported."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: dict[str, str] = PYPROJECT["tool"]["setuptools"]["package-dir"]
READ_BY_TESTS = ("README.md", "CHANGELOG.md", "constraints.txt", "docs", "examples", "noxfile.py")
TABLE = ROOT / "tests" / "mutation" / "folders.toml"

# A mutant's process starts with these imported and nothing of ours: what runs on import, or is kept by a cache, must
# run mutated. Plugins of pytest are not among them, for pytest insists on importing those itself.
PRELOADED = ("jsonschema", "ml_dtypes", "numpy", "numpy_quaddtype", "tabulate")

# A mutant may take five times as long as its tests did, and two minutes, for on a busy machine its imports alone take
# half a minute; in processor time, twice that.
LIMITS = "timeout_multiplier = 5.0\ntimeout_constant = 24.0\n"


@dataclass(frozen=True)
class Folder:
    """A folder whose functions are mutated, and the tests that must notice."""

    name: str
    folder: str
    tests: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def inside(self) -> list[str]:
        """Where it lies in a workspace, packages inside it included: ``src/optimetry/conformance/naming``."""
        within = [top for top in PACKAGES.values() if f"{top}/".startswith(f"{self.folder}/")]
        return [str(in_workspace(folder)) for folder in within or [self.folder]]


def in_workspace(path: str) -> Path:
    """Return where the copy of a file or folder lies in a workspace: under the innermost package that holds it."""
    package, top = max(
        ((package, top) for package, top in PACKAGES.items() if f"{path}/".startswith(f"{top}/")),
        key=lambda pair: len(pair[1]),
    )
    return Path("src", *package.split("."), path.removeprefix(top).removeprefix("/"))


def in_tree(copy: Path) -> str:
    """Translate a path of a workspace to the file that it is a copy of."""
    ours = {Path("src", *package.split(".")): top for package, top in PACKAGES.items()}
    package = next(folder for folder in ours if copy.is_relative_to(folder))
    return f"{ours[package]}/{copy.relative_to(package).as_posix()}"


def folders() -> dict[str, Folder]:
    """Read the table of folders."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: Folder(name, row["folder"], tuple(row["tests"]), tuple(row["without"])) for name, row in table.items()
    }


def prepare(workspace: Path, folder: Folder) -> None:
    """Bring a workspace up to date: sources, tests, what they read, and the settings of mutmut.

    Results that mutmut keeps there stay: it drops those of functions that changed.
    """
    mutants = workspace / "mutants"
    for package, top in PACKAGES.items():
        _mirror(ROOT / top, workspace / "src" / package.replace(".", "/"), mutants / "src" / package.replace(".", "/"))
    for name in ("tests", *READ_BY_TESTS):
        source, copy = ROOT / name, workspace / name
        if source.is_dir():
            shutil.rmtree(mutants / name, ignore_errors=True)  # mutmut copies it again
            _mirror(source, copy, None)
        elif source.is_file():
            shutil.copy2(source, copy)
    forget_calls(mutants / "mutmut-stats.json")
    preloaded = workspace / "preloaded.txt"
    preloaded.write_text("\n".join(PRELOADED), encoding="utf-8")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8") + _settings(folder, preloaded)
    (workspace / "pyproject.toml").write_text(settings, encoding="utf-8")


def forget_calls(stats: Path) -> None:
    """Forget which tests call which function: mutmut records new tests alone, so a renamed function would have none."""
    if stats.is_file():
        known = json.loads(stats.read_text(encoding="utf-8"))
        known |= {"tests_by_mangled_function_name": {}, "duration_by_test": {}}
        stats.write_text(json.dumps(known), encoding="utf-8")


def _mirror(source: Path, copy: Path, mutated: Path | None) -> None:
    """Copy what differs, and delete what is gone, in the copy and in what mutmut made of it.

    Packages inside, such as ``optimetry.fluid``, are imported under names of their own and have their own copies.
    """
    packages = [ROOT / top for top in PACKAGES.values() if ROOT / top != source and (ROOT / top).is_relative_to(source)]
    files = [path for path in source.rglob("*") if path.is_file() and _read(path)]
    wanted = {path.relative_to(source) for path in files if not any(map(path.is_relative_to, packages))}
    present = {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()}
    for path in wanted | present:
        if path in wanted and path in present and filecmp.cmp(source / path, copy / path, shallow=False):
            continue
        if mutated is not None:
            (mutated / path).unlink(missing_ok=True)
        if path in wanted:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, copy / path)
        else:
            (copy / path).unlink()


def _read(path: Path) -> bool:
    return "__pycache__" not in path.parts and path.suffix != ".pyc"


def _settings(folder: Folder, preloaded: Path) -> str:
    options = ["-p", "no:cacheprovider", *(f"--deselect={test}" for test in folder.without)]
    return (
        "\n[tool.mutmut]\n"
        'source_paths = ["src"]\n'
        f"only_mutate = {json.dumps([f'{inside}/*' for inside in folder.inside])}\n"
        'do_not_mutate = ["*/published/*", "*/reports/site/*"]\n'  # what `nox -s publish` writes; what people look at
        f"also_copy = {json.dumps([*READ_BY_TESTS])}\n"
        f"pytest_add_cli_args_test_selection = {json.dumps([*folder.tests])}\n"
        f"pytest_add_cli_args = {json.dumps(options)}\n"
        'process_isolation = "forkserver"\n'
        'forkserver_warmup = "import"\n'
        f"preload_modules_file = {json.dumps(str(preloaded))}\n"
        f"{LIMITS}"
    )


def environment(workspace: Path) -> dict[str, str]:
    """Return the environment in which processes started by tests import the mutated packages, too."""
    path = str((workspace / "mutants" / "src").resolve())
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
