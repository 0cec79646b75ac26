"""Runs ``optimetry report``: makes tables, pages and badges of results files."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from optimetry.conformance.commands.arguments import add_format, named_path
from optimetry.conformance.commands.files.results_folder import checked_folder, write, write_tables, writing
from optimetry.conformance.commands.text.terminal import counted, shown, terminal_width
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.reference.errors import UsageError
from optimetry.reports import matrix, speed_tables, tables
from optimetry.reports.badges import badges
from optimetry.reports.formats import MEASURED, TABLE, WRITERS
from optimetry.reports.joining import read_joined
from optimetry.reports.results import Results, file_of
from optimetry.reports.sentence import sentence
from optimetry.reports.site import plots
from optimetry.reports.site.build import build
from optimetry.reports.site.contents import Contents

EXAMPLES = """\
examples:
  optimetry report results                                  the tables of one results file
  optimetry report torch keras --out page                   tables of two, a matrix of rule by target, and pictures
  optimetry report torch keras --site site                  pages to look at: open site/index.html
  optimetry report results --badges badges --format json    a badge for each rule and dtype, and every digit

exit status: 0 all is written, whatever the verdicts; 2 wrong usage, or a file that cannot be read or written."""


def add_report(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    report = commands.add_parser(
        "report",
        help="make tables from results files",
        description="Make tables from results files, one for each target, and a matrix of rule by target. A folder "
        "written by `optimetry check --out` stands for its file. A file that holds measurements alone is joined to the "
        "one with the verdicts on the same version of a target.",
        epilog=EXAMPLES,
    )
    report.add_argument("results", type=named_path, nargs="+", metavar="RESULTS", help="results.jsonl, or its folder")
    report.add_argument(
        "--out", type=named_path, metavar="DIR", help="write tables, and the matrix as matrix.md, to DIR"
    )
    report.add_argument(
        "--site", type=named_path, metavar="DIR", help="write a static site to DIR: open its index.html"
    )
    report.add_argument(
        "--findings",
        type=named_path,
        metavar="FILE",
        help="for --site: a page in Markdown; each of its sections gets a page",
    )
    report.add_argument("--badges", type=named_path, metavar="DIR", help="write a badge for each rule and dtype to DIR")
    add_format(report)
    report.set_defaults(command=report_command)


def report_command(options: argparse.Namespace) -> int:
    """Run ``optimetry report``."""
    for option in ("out", "site", "badges"):
        checked_folder(getattr(options, option), f"--{option}")
    if options.findings is not None and options.site is None:
        raise UsageError(f"--findings {options.findings}: needs --site, of which it becomes pages")
    read = read_joined([file_of(path) for path in options.results])
    files, results = [file for file, _ in read], [each for _, each in read]
    findings = findings_in(options.findings)
    if options.site is not None:
        with writing(options.site, "--site"):
            page = build(results, options.site, findings)[0]
    if options.out is not None:
        tables_written = write_tables(options.out, results)
        if any(each.verdicts for each in results):
            folders = [Path(os.path.relpath(file.parent, options.out)).as_posix() for file in files]
            write(options.out / "matrix.md", matrix.page(results, folders))
            tables_written.append("matrix.md")
        tables_written += pictures_written(results, options.out)
    if options.format in WRITERS:
        print(WRITERS[options.format](results), end="")
    else:
        print(*map(shown_results, results), sep="\n")
    stream = sys.stdout if options.format == TABLE else sys.stderr
    if options.out is not None:
        print(f"written: {options.out / ', '.join(tables_written)}", file=stream)
    if options.site is not None:
        print(f"written: {page}", file=stream)
    if options.badges is not None:
        made = list(badges(results))
        for name, text in made:
            write(options.badges / name, text, "--badges")
        print(f"written: {counted(len(made), 'file')} in {options.badges}", file=stream)
    return 0


def pictures_written(results: Sequence[Results], folder: Path) -> list[str]:
    """Write pictures of errors over the steps and of times over sizes; return their names, none without Matplotlib.

    Raises:
        UsageError: it cannot be written.
    """
    if not any(each.accuracy or each.speed for each in results) or find_spec("matplotlib") is None:
        return []
    rules, drawn = Contents.of(results).rules, {}
    for book, dtype in dict.fromkeys((rule.book, dtype) for rule in rules for dtype in rule.pictures):
        curves = {rule.name: rule.curves(dtype) for rule in rules if rule.book == book and dtype in rule.pictures}
        drawn[f"accuracy-{book}-{dtype}.svg"] = plots.drifts(curves)
    for (rule, dtype, tensors), rows, names in speed_tables.runs([row for each in results for row in each.speed]):
        if len({row.elements for row in rows}) > 1:
            drawn[f"sweep-{rule}-{dtype}-{tensors}.svg"] = plots.sweep(rows, names)
    for name, text in drawn.items():
        write(folder / name, text)
    return list(drawn)


def shown_results(results: Results) -> str:
    """Return what a terminal shows of one results file."""
    parts = [f"{results.header.name}. {tables.about(results.header)}"]
    if results.verdicts:
        summary = sentence(results.header.target, results.verdicts, WRAPPERS)
        table = shown(tables.terminal(results.verdicts, terminal_width()))
        parts += [table, tables.summary(results.verdicts), textwrap.fill(summary, terminal_width())]
    parts += [kind.terminal(kind.of(results), terminal_width()) for kind in MEASURED if kind.of(results)]
    return "\n\n".join(parts) + "\n"


def findings_in(page: Path | None) -> str:
    """Read a page of findings, nothing where there is none.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return "" if page is None else page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--findings {page}: {getattr(error, 'strerror', None) or 'not text in UTF-8'}") from error
