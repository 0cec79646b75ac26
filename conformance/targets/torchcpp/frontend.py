"""Compiles ``frontend.cpp`` against the headers and libraries inside torch's wheel, once, and becomes that program.

What is compiled is kept in ``optimetry`` in the user's folder for caches (``XDG_CACHE_HOME``), by what it was compiled
from. The script needs Python's own library, torch, and g++; optimetry need not be installed where it runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".cpp")
WIRE = Path(__file__).parents[2] / "harness" / "wire.hpp"
COMPILER = "g++"
LIBRARIES = ("torch", "torch_cpu", "c10")


def torch_folder() -> Path:
    """Return where torch is, which is not imported."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit(f"torch is not installed for {sys.executable}")
    return Path(spec.origin).parent


def command(torch: Path, program: Path) -> list[str]:
    """Return the command that compiles the program."""
    include = torch / "include"
    folders = (WIRE.parent, include, include / "torch" / "csrc" / "api" / "include")
    return [
        COMPILER,
        *("-O1", "-std=c++20"),
        *(f"-I{folder}" for folder in folders),
        *("-o", str(program), str(SOURCE)),
        *(f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}"),
        *(f"-l{library}" for library in LIBRARIES),
    ]


def kept(torch: Path) -> Path:
    """Return where the compiled program is kept."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "optimetry"
    version = metadata.version("torch")
    made_of = (version, *command(torch, SOURCE), SOURCE.read_text("utf-8"), WIRE.read_text("utf-8"))
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]
    return caches / f"torchcpp-{version}-{digest}"


def compiled(torch: Path, program: Path) -> None:
    """Compile the program, unless it is there; another process that wants it waits meanwhile."""
    program.parent.mkdir(parents=True, exist_ok=True)
    with program.with_name(f"{program.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists():
            return
        with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
            made = Path(scratch, "frontend")
            try:
                subprocess.run(command(torch, made), check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            except FileNotFoundError:
                sys.exit(f"{COMPILER} is not found on the PATH; it compiles torch's C++ frontend")
            except subprocess.CalledProcessError as error:
                sys.exit(f"{COMPILER} failed with status {error.returncode} on {SOURCE.name}")
            made.rename(program)


def main() -> None:
    """Compile where need be, and become the program."""
    torch = torch_folder()
    program = kept(torch)
    compiled(torch, program)
    os.execv(program, [str(program)])


if __name__ == "__main__":
    main()
