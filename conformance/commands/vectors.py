"""Runs ``optimetry vectors``, which writes test vectors for projects that judge themselves."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from tqdm import tqdm

from optimetry.conformance.commands.arguments import add_book, add_dtypes, add_optimizers, named_path, rules_in
from optimetry.conformance.commands.files.results_folder import checked_folder, write, writing
from optimetry.conformance.commands.text.terminal import counted
from optimetry.conformance.judging import vectors
from optimetry.conformance.judging.vectors.writing import DTYPES, document, text_of
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.errors import UsageError

SCHEMA = "vectors.schema.json"

UNIX = 3
"""The system that an archive says it was made on, so that every system makes the same."""

EXAMPLES = """\
examples:
  optimetry vectors --out vectors                           of all rules of fluid
  optimetry vectors --out vectors --book all                of all books
  optimetry vectors --out vectors --optimizer torch.adamw   of one rule
  optimetry vectors --archive vectors.zip --book all        of all books, with their schema, in one file to publish

The same version writes the same bytes. docs/vectors.md says what is in a file, and has readers.

exit status: 0 all is written; 2 wrong usage, or a place that cannot be written."""


def add_vectors(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "vectors",
        help="write test vectors for projects that judge themselves",
        description="Write one file for each rule and dtype: inputs, expected values, and the error that is allowed.",
        epilog=EXAMPLES,
    )
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--out", type=named_path, metavar="DIR", help="write BOOK/RULE-DTYPE.json to DIR")
    place.add_argument(
        "--archive", type=named_path, metavar="FILE", help="write them and their schema to a ZIP archive"
    )
    add_book(parser)
    add_optimizers(parser)
    add_dtypes(parser, DTYPES, " (default: both)")
    parser.set_defaults(command=vectors_command)


def vectors_command(options: argparse.Namespace) -> int:
    """Run ``optimetry vectors``."""
    rules = rules_in(options.book, options.optimizer)
    dtypes = chosen("dtype", options.dtype, DTYPES, elsewhere=FORMATS)
    place = options.out or options.archive
    checked_folder(place if options.out else place.parent, "--out" if options.out else "--archive")
    if options.archive and place.is_dir():
        raise UsageError(f"--archive {place}: is a folder, must be a file")
    pairs = [(rule, dtype) for rule in rules for dtype in dtypes]
    files = {}
    for rule, dtype in tqdm(pairs, unit="file", leave=False, disable=None):
        name = f"{subject_named(rule).book}/{rule.rpartition('.')[2]}-{dtype}.json"
        files[name] = text_of(document(rule, dtype))
        if options.out:
            write(place / name, files[name])
    if options.archive:
        archive(place, {SCHEMA: resources.files(vectors).joinpath(SCHEMA).read_text("utf-8"), **files})
    print(f"written: {counted(len(files), 'file')} of {sum(map(len, files.values())) / 1e6:.2f} MB in {place}")
    return 0


def archive(file: Path, texts: Mapping[str, str]) -> None:
    """Write a ZIP archive whose bytes depend on the texts alone: no dates, nothing compressed, sorted by name.

    Raises:
        UsageError: it cannot be written.
    """
    with writing(file, "--archive"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with ZipFile(file, "w") as written:
            for name in sorted(texts):
                entry = ZipInfo(name)  # of the year 1980, which is the first that there is
                entry.create_system, entry.external_attr = UNIX, 0o644 << 16
                written.writestr(entry, texts[name])
