"""Installs libraries into folders of their own, as `apart.toml` says, and puts these in front of the path."""

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

DECLARED = tomllib.loads(Path(__file__).with_name("apart.toml").read_text(encoding="utf-8"))


@contextmanager
def importable(library: str, folder: Path) -> Iterator[Path | None]:
    """Make a library importable, here and in processes that are spawned; it is installed if it is not there.

    Yields the interpreter of an environment of its own, for a library that needs another Python, and None for others.

    Args:
        library: its adapter's name; one that `apart.toml` does not have is where all others are.
        folder: where folders of libraries are.

    Raises:
        subprocess.CalledProcessError: pip failed.
        FileNotFoundError: the Python that the library needs is not on the path.
    """
    if library not in DECLARED:
        yield None
        return
    declared = DECLARED[home(library)]
    own = folder / home(library)
    if not own.is_dir():
        install(declared, own)
    if "python" in declared:
        yield own / "bin" / "python"
        return
    sys.path.insert(0, str(own))
    try:
        yield None
    finally:
        sys.path.remove(str(own))


def home(library: str) -> str:
    """Return the adapter in whose folder that of a library is: itself, unless `apart.toml` names another."""
    there: str = DECLARED.get(library, {}).get("beside", library)
    return there


def install(declared: Mapping[str, Any], own: Path) -> None:
    """Install what is declared of a library into a folder, which is there only once all of it is."""
    own.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=own.parent) as scratch:
        made = Path(scratch, own.name)
        constraints = Path(scratch, "build.txt")
        constraints.write_text("\n".join(declared.get("build", [])), encoding="utf-8")
        if "python" in declared:
            subprocess.run([f"python{declared['python']}", "-m", "venv", str(made)], check=True)
            pip = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        else:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(made)]
        command = [*pip, *declared.get("options", []), *declared["requirements"]]
        subprocess.run(command, check=True, env={**os.environ, "PIP_CONSTRAINT": str(constraints)})
        made.rename(own)
