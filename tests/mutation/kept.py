"""Makes mutants and reads what mutmut keeps of them.

Import it inside a workspace: mutmut reads its settings on import.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants
from mutmut.configuration import reset_config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files

# Statuses with which pytest ends when it cannot collect the tests, for a module of ours fails on import. mutmut takes
# the first for an interruption and the second, its own for pytest's 4, for a timeout; real ones end by a signal.
UNCOLLECTED = (2, 255)


def generate() -> None:
    """Write the mutants of the workspace that is the current folder, as ``mutmut run`` does before it tests them."""
    reset_config()
    Path("mutants").mkdir(exist_ok=True)
    with contextlib.redirect_stdout(None):
        copy_src_dir()
        copy_also_copy_files()
        create_mutants(1)


def statuses() -> dict[str, tuple[Path, str]]:
    """Return, for every mutant by name, the file that it changes and how it ended."""
    by_name = {}
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        for name, code in data.exit_code_by_key.items():
            by_name[name] = path, "uncollected" if code in UNCOLLECTED else str(status_by_exit_code[code])
    return by_name


def diff(name: str, path: Path) -> str:
    """Return what a mutant changes, as a unified diff of its function."""
    return str(get_diff_for_mutant(name, path=path))
