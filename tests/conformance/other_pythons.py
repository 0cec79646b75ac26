"""Finds Pythons other than ours, and starts the target of a library that one of them has."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard


def pythons(release: str, variable: str) -> list[str]:
    """Return each Python of a release that there is: that of a variable, that on the path, and those of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    paths = [os.environ.get(variable), shutil.which(f"python{release}")]
    paths += map(str, sorted(versions.glob(f"{release}.*/bin/python")))
    is_it = f"import sys; assert '%d.%d' % sys.version_info[:2] == {release!r}"
    return [path for path in paths if path and _runs(path, is_it)]


@contextmanager
def under_its_own(target: str, release: str, variable: str, version: str) -> Iterator[ProgramTarget]:
    """Start a target of PaddlePaddle under the first Python of a release that has this version; skip without one."""
    has_it = f"import paddle; assert paddle.__version__ == {version!r}"
    python = next((path for path in pythons(release, variable) if _runs(path, has_it)), None)
    if python is None:
        pytest.skip(f"not run: no Python {release} with paddlepaddle {version}")
    program = ProtocolProgram(python_command(python, target))
    try:
        yield ProgramTarget.started(program, Guard())
    finally:
        program.close()


def _runs(python: str, code: str) -> bool:
    return not subprocess.run([python, "-c", code], check=False, capture_output=True).returncode
