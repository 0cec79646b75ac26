"""Makes the mutants of ``named.toml``, one at a time in a copy of the tree, and runs the test that must notice each."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.workspace import ROOT, folders, in_workspace, prepare

TABLE = ROOT / "tests" / "mutation" / "named.toml"


def mutants() -> list[dict[str, str]]:
    """Read the mutants, each with ``what`` it does, its ``file``, ``old``, ``new`` and ``test``."""
    return list(tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"])


def table() -> str:
    """Write the mutants and their tests as a Markdown table."""
    rows = [f"| `{row['file']}` | {row['what']} | `{row['test']}` |" for row in mutants()]
    return "\n".join(["| file | change | noticed by |", "|---|---|---|", *rows])


def passes(workspace: Path, *tests: str) -> bool:
    """Whether tests pass in a workspace; what else may end them, such as a wrong name, is an error."""
    environment = {**os.environ, "PYTHONPATH": str(workspace / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        sys.exit(f"{ended.stdout[-4000:]}{ended.stderr[-4000:]}\npytest ended with status {ended.returncode}")
    return ended.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 when a mutant survives."""
    parser = argparse.ArgumentParser(prog="nox -s mutants -- named", description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True, help=argparse.SUPPRESS)
    workspace = parser.parse_args(arguments).workspace.resolve() / "named"
    workspace.mkdir(parents=True, exist_ok=True)
    prepare(workspace, folders()["reports"])
    rows = mutants()
    if not passes(workspace, *dict.fromkeys(row["test"] for row in rows)):
        sys.exit("the tests must pass before anything is mutated")
    survivors = 0
    for row in rows:
        copy = workspace / in_workspace(row["file"])
        text = copy.read_text(encoding="utf-8")
        if text.count(row["old"]) != 1:
            sys.exit(f"{row['file']}: {row['old']!r} must stand there once")
        copy.write_text(text.replace(row["old"], row["new"]), encoding="utf-8")
        survived = passes(workspace, row["test"])
        copy.write_text(text, encoding="utf-8")
        survivors += survived
        print(f"{'SURVIVED' if survived else 'killed'}: {row['file']}: {row['what']} ({row['test']})", flush=True)
    print(f"\n{len(rows) - survivors} of {len(rows)} killed")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
