"""Writes docs/sensitivity.md and docs/confusion.md: ``python -m optimetry.conformance.selftest.pages``.

Both are from one run, which takes half an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from optimetry.conformance.selftest import confusion, sensitivity
from optimetry.conformance.selftest.known_targets import KnownVerdicts


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages, by default where the repository keeps them."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.selftest.pages", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder to write to (default: %(default)s)")
    folder: Path = parser.parse_args(arguments).out
    verdicts = KnownVerdicts.of_this_code()
    for written in (sensitivity, confusion):
        (folder / written.PAGE.name).write_text(written.page(verdicts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
