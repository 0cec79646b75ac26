"""A copy of the tree in which something is added, run in processes whose imports of optimetry find the copy first."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class Tree:
    """The mapped folders and the tests, copied, with files added or replaced.

    Args:
        root: a new folder for the copy.
        files: texts by path.
    """

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        self.root = root
        # What is compiled stays valid in a copy; what other processes are writing is renamed before it can be copied.
        unread = shutil.ignore_patterns("*.nb[ci]*", "*.pyc.*", "published")
        (root / "import" / "optimetry").mkdir(parents=True)
        for package, folder in PYPROJECT["tool"]["setuptools"]["package-dir"].items():
            if not (root / folder).exists():  # a package may lie in another's folder
                shutil.copytree(ROOT / folder, root / folder, ignore=unread)
            (root / "import" / "optimetry" / package.removeprefix("optimetry.")).symlink_to(root / folder)
        for folder in ("docs", "tests"):
            shutil.copytree(ROOT / folder, root / folder, ignore=unread)
        for file in ("noxfile.py", "pyproject.toml"):
            shutil.copy(ROOT / file, root)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")

    def run(self, program: str, *arguments: str) -> tuple[int, str]:
        """Run a program of this environment in the copy; its exit status and what it printed."""
        environment = os.environ | {
            "PYTHONPATH": str(self.root / "import"),
            "PYTHONDONTWRITEBYTECODE": "",  # the copy is read by many processes
            "NUMBA_CACHE_DIR": str(self.root / "cache"),
        }
        command = [Path(sys.executable).with_name(program), *arguments]
        done = subprocess.run(command, check=False, cwd=self.root, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def pytest(self, *arguments: str) -> str:
        """Run pytest in the copy, which must pass; what it printed."""
        status, out = self.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
        assert status == 0, out
        return out
