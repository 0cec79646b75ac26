"""Runs ``optimetry vectors``, which writes test vectors for projects that judge themselves."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from optimetry.conformance.commands.check import checked_folder, write
from optimetry.conformance.judging.vectors import DTYPES, document, text_of
from optimetry.conformance.subjects.books import BOOK_HELP, DEFAULT_BOOK, chosen_in
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.errors import UsageError

EXAMPLES = """\
examples:
  optimetry vectors --out vectors                           of all rules of fluid
  optimetry vectors --out vectors --book all                of all books
  optimetry vectors --out vectors --optimizer torch.adamw   of one rule

The same version writes the same bytes. docs/vectors.md says what is in a file, and has readers."""


def add_vectors(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "vectors",
        help="write test vectors for projects that judge themselves",
        description="Write one file for each rule and dtype: inputs, expected values, and the error that is allowed.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="write BOOK/RULE-DTYPE.json to DIR")
    parser.add_argument("--book", default=DEFAULT_BOOK, metavar="NAME", help=BOOK_HELP)
    parser.add_argument(
        "--optimizer", action="append", metavar="NAME", help="a rule; may be repeated (all of the book)"
    )
    parser.add_argument("--dtype", action="append", metavar="NAME", help=f"one of: {', '.join(DTYPES)} (both)")
    parser.set_defaults(command=vectors_command)


def vectors_command(options: argparse.Namespace) -> int:
    """Run ``optimetry vectors``."""
    rules, dtypes = chosen_in(options.book, options.optimizer), chosen("dtype", options.dtype, DTYPES)
    for rule in rules:
        if not isinstance(subject_named(rule), RuleSubject):
            raise UsageError(f"--optimizer {rule}: is a wrapper, and rules alone have vectors")
    folder, size = checked_folder(options.out), 0
    pairs = [(rule, dtype) for rule in rules for dtype in dtypes]
    for rule, dtype in tqdm(pairs, unit="file", leave=False, disable=not sys.stderr.isatty()):
        text = text_of(document(rule, dtype))
        write(folder / subject_named(rule).book / f"{rule.rpartition('.')[2]}-{dtype}.json", text)
        size += len(text)
    print(f"written: {len(pairs)} files of {size / 1e6:.2f} MB in {folder}")
    return 0
