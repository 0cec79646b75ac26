"""Checks what is in a wheel and a source archive, for `nox -s build`: ``python tests/archives.py WHEEL SDIST``.

Standard library alone, as optimetry is not installed where archives are built.
"""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = PYPROJECT["tool"]["setuptools"]["package-dir"]
PACKAGES: list[str] = PYPROJECT["tool"]["setuptools"]["packages"]
DATA: dict[str, list[str]] = PYPROJECT["tool"]["setuptools"]["package-data"]


def shipped_files() -> set[str]:
    """List the files of the mapped folders that users get, as paths inside the wheel."""
    shipped = set()
    for package, folder in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*")):
            inside = file.relative_to(ROOT / folder)
            homes = {".".join((package, *inside.parts[:depth])): depth for depth in range(len(inside.parts))}
            home = max(PACKAGES & homes.keys(), key=homes.__getitem__)  # data may lie in folders of a package
            name = PurePosixPath(*inside.parts[homes[home] :])
            patterns = [PurePosixPath(pattern) for pattern in ("*.py", *DATA["*"], *DATA.get(home, ()))]
            if any(len(name.parts) == len(pattern.parts) and name.match(str(pattern)) for pattern in patterns):
                shipped.add(str(PurePosixPath(*package.split("."), *inside.parts)))
    return shipped


def wheel_problems(wheel: Path) -> list[str]:
    """Compare a wheel with the folders: nothing missing, nothing else, and one name at its top."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    project = PYPROJECT["project"]
    info = f"{project['name']}-{project['version']}.dist-info"
    outside = {name for name in names if name.split("/")[0] not in (project["name"], info)}
    inside = {name for name in names if name.split("/")[0] == project["name"]}
    return [
        *(f"{wheel.name}: {name} is outside {project['name']}/" for name in sorted(outside)),
        *(f"{wheel.name}: {name} is missing" for name in sorted(shipped_files() - inside)),
        *(f"{wheel.name}: {name} should not ship" for name in sorted(inside - shipped_files())),
    ]


def sdist_problems(sdist: Path) -> list[str]:
    """Check that a source archive holds what builds the wheel, and nothing that a session wrote."""
    with tarfile.open(sdist) as archive:
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    needed = {PurePosixPath(name) for name in ("LICENSE", "README.md", "pyproject.toml")}
    for package, folder in FOLDERS.items():
        prefix = PurePosixPath(*package.split("."))
        files = (PurePosixPath(file) for file in shipped_files())
        needed |= {folder / file.relative_to(prefix) for file in files if file.is_relative_to(prefix)}
    made = {name for name in names if {".nox", ".venv", "build", "results", "__pycache__"} & set(name.parts)}
    return [
        *(f"{sdist.name}: {name} is missing" for name in sorted(needed - names)),
        *(f"{sdist.name}: {name} should not ship" for name in sorted(made)),
    ]


def main(wheel: str, sdist: str) -> int:
    """Print what is wrong with two archives; return the exit status, 1 where anything is."""
    problems = wheel_problems(Path(wheel)) + sdist_problems(Path(sdist))
    print("\n".join(problems) or f"{Path(wheel).name} and {Path(sdist).name} hold what they should")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
