"""Installs libraries into folders of their own, as `apart.toml` says, and says how the suite reaches each library."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optimetry import conformance

FOLDER = Path(__file__).parent
DECLARED = tomllib.loads((FOLDER / "apart.toml").read_text(encoding="utf-8"))
WIRE = Path(conformance.__file__).with_name("harness")
"""The folder of `wire.hpp`, which harnesses in C++ include."""


@contextmanager
def reachable(library: str, folder: Path) -> Iterator[list[str]]:
    """Install a library if it is not there, and yield what the command line of ``optimetry check`` says of it.

    One that is for this Python is importable meanwhile, here and in processes that are spawned.

    Args:
        library: its adapter's name; one that `apart.toml` does not have is where all others are.
        folder: where folders of libraries are.

    Raises:
        subprocess.CalledProcessError: it could not be installed or built.
        FileNotFoundError: what installs it, or the Python that it needs, is not on the path.
    """
    adapter = f"examples.field.{library}:Target"
    if library not in DECLARED:
        yield [adapter]
        return
    declared = DECLARED[home(library)]
    own = folder / home(library)
    if not own.is_dir():
        install(declared, own, home(library))
    arguments = DECLARED[library].get("arguments", [])
    if "npm" in declared:
        yield ["--", "node", str(FOLDER / "programs" / f"{home(library)}.js"), str(own), *arguments]
    elif "debian" in declared:
        yield ["--", str(own / "harness"), *arguments]
    elif "python" in declared:
        yield [adapter, "--python", str(own / "bin" / "python")]
    else:
        sys.path.insert(0, str(own))
        try:
            yield [adapter]
        finally:
            sys.path.remove(str(own))


def home(library: str) -> str:
    """Return the adapter in whose folder that of a library is: itself, unless `apart.toml` names another."""
    there: str = DECLARED.get(library, {}).get("beside", library)
    return there


def install(declared: Mapping[str, Any], own: Path, library: str) -> None:
    """Install what is declared of a library into a folder, which is there only once all of it is."""
    own.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=own.parent) as scratch:
        made = Path(scratch, own.name)
        if "npm" in declared:
            npm = ["npm", "install", "--silent", "--ignore-scripts", "--prefix", str(made)]
            subprocess.run([*npm, *declared["npm"]], check=True)
        elif "debian" in declared:
            packages = Path(scratch, "packages")
            packages.mkdir()
            subprocess.run(["apt-get", "download", "--quiet", *declared["debian"]], check=True, cwd=packages)
            for package in sorted(packages.iterdir()):
                subprocess.run(["dpkg", "--extract", str(package), str(made)], check=True)
            build(library, made, own, declared.get("flags", []))
        else:
            pip_install(declared, made, Path(scratch, "build.txt"))
        made.rename(own)


def pip_install(declared: Mapping[str, Any], made: Path, constraints: Path) -> None:
    """Install with pip: for this Python, or into an environment of the one that is declared."""
    constraints.write_text("\n".join(declared.get("build", [])), encoding="utf-8")
    if "python" in declared:
        subprocess.run([f"python{declared['python']}", "-m", "venv", str(made)], check=True)
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    else:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(made)]
    command = [*pip, *declared.get("options", []), *declared["requirements"]]
    subprocess.run(command, check=True, env={**os.environ, "PIP_CONSTRAINT": str(constraints)})


def build(library: str, made: Path, own: Path, flags: list[str]) -> None:
    """Compile the harness of a library in C++.

    Args:
        library: its adapter's name.
        made: the folder that its packages are unpacked in.
        own: the folder that this will be, where the harness looks for libraries that are linked.
        flags: of the compiler, behind the source.
    """
    source = FOLDER / "programs" / f"{library}.cpp"
    command = ["g++", "-O2", "-std=c++17", "-pthread", f"-I{WIRE}", "-isystem", str(made / "usr" / "include")]
    linked = sorted({file.parent for file in made.rglob("*.so*")})
    search = [f"-L{folder}" for folder in linked]
    later = [f"-Wl,--disable-new-dtags,-rpath,{own / folder.relative_to(made)}" for folder in linked]
    missing = [f"-Wl,-rpath-link,{folder}" for folder in linked]
    subprocess.run([*command, "-o", str(made / "harness"), str(source), *search, *later, *missing, *flags], check=True)
