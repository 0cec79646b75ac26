"""Writes what a continuous-integration service shows of a check: JUnit, annotations, and the summary of a job."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from optimetry.conformance.commands.arguments import named_path
from optimetry.conformance.commands.files.ledger import UNSUPPORTED, Balance, outcome_of
from optimetry.conformance.commands.files.results_folder import checked_folder, write
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.reference.errors import UsageError
from optimetry.reports import tables
from optimetry.reports.results import Results, Verdict
from optimetry.reports.sentence import sentence

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub names the file for the summary of a job."""


@dataclass(frozen=True)
class Reporting:
    """Where a check reports to.

    Attributes:
        junit: the file for JUnit XML, or None.
        github: whether annotations and a summary are written as GitHub reads them.
    """

    junit: Path | None = None
    github: bool = False

    def report(self, results: Results, balance: Balance, ledger: Path | None) -> None:
        """Write and print what was asked for of results and their comparison with the ledger in a file.

        Raises:
            UsageError: a file cannot be written.
        """
        try:
            if self.junit is not None:
                write(self.junit, junit(results, balance), "--junit")
            if self.github:
                print(*annotated(balance, ledger), sep="\n")
                if SUMMARY in os.environ:
                    with Path(os.environ[SUMMARY]).open("a", encoding="utf-8", errors="backslashreplace") as file:
                        file.write(summary(results, balance))
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror or error}") from error


def add_reporting(parser: argparse.ArgumentParser) -> None:
    """Add the options to a command."""
    group = parser.add_argument_group("continuous integration")
    group.add_argument("--junit", type=named_path, metavar="FILE", help="write the verdicts as JUnit XML")
    group.add_argument(
        "--github", action="store_true", help="print annotations, and append to the summary of the job on GitHub"
    )


def reporting_of(options: argparse.Namespace) -> Reporting:
    """Return where to report to.

    Raises:
        UsageError: the file for JUnit is a folder, or cannot be written.
    """
    file = options.junit
    if file is not None:
        if file.is_dir():
            raise UsageError(f"--junit {file}: is a folder, must be a file")
        if file.exists() and not os.access(file, os.W_OK):
            raise UsageError(f"--junit {file}: no permission to write it")
        checked_folder(file.parent, "--junit")
    return Reporting(options.junit, options.github)


def junit(results: Results, balance: Balance) -> str:
    """Write one test case for each verdict, and one for each line of the ledger that no longer holds.

    What is unexpected is a failure, what is not offered is skipped; an expected verdict passes, and says which it is.
    """
    unexpected = {id(verdict) for verdict in balance.unexpected}
    suite = ET.Element("testsuite", name=_xml(f"optimetry {results.header.name}"))
    for verdict in results.verdicts:
        case = ET.SubElement(suite, "testcase", classname=_xml(f"{results.header.target}.{verdict.optimizer}"))
        case.set("name", _xml(f"{verdict.dtype} {verdict.engine}"))
        outcome = outcome_of(verdict)
        if verdict.verdict == UNSUPPORTED:
            ET.SubElement(case, "skipped", message=_xml(verdict.reason))
        elif id(verdict) in unexpected:
            failure = ET.SubElement(case, "failure", type=verdict.verdict, message=_xml(outcome))
            failure.text = _xml("\n".join([verdict.reason, *_script(verdict)]))
        elif verdict.verdict != "conforms":
            ET.SubElement(case, "system-out").text = _xml(f"expected: {outcome}")
    for text in balance.stale:
        case = ET.SubElement(suite, "testcase", classname=_xml(f"{results.header.target}.ledger"), name=_xml(text))
        ET.SubElement(case, "failure", type="stale", message=_xml(text))
    for kind, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(kind, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def annotated(balance: Balance, ledger: Path | None) -> Iterator[str]:
    """Yield an annotation for each unexpected verdict, and one at each line of the ledger that no longer holds."""
    for verdict in balance.unexpected:
        title = f"{verdict.optimizer} {verdict.dtype} (engine {verdict.engine})"
        yield annotation(f"{outcome_of(verdict)}: {verdict.reason}", title=title)
    for text, entry in balance.stale.items():
        yield annotation(text, title="stale", file=str(ledger), line=entry.line)


def annotation(text: str, **properties: object) -> str:
    """Write one annotation of an error in the form that GitHub reads."""
    fields = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    return f"::error {fields}::{_escaped(text)}" if fields else f"::error::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def summary(results: Results, balance: Balance) -> str:
    """Write the summary of a job in Markdown: a sentence, what is unexpected, and a table of all that is offered."""
    header = results.header
    offered = [verdict for verdict in results.verdicts if verdict.verdict != UNSUPPORTED]
    wrong = [
        f"- unexpected: `{verdict.optimizer}` {verdict.dtype} (engine {verdict.engine}): **{outcome_of(verdict)}**"
        for verdict in balance.unexpected
    ]
    stale = [f"- stale: {text}" for text in balance.stale]
    parts = [
        sentence(header.target, offered, WRAPPERS),
        "\n".join([*wrong, *stale]),
        tables.markdown([Results(header, offered)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _script(verdict: Verdict) -> list[str]:
    """Return the counterexample of a verdict as lines to append, if it is a script."""
    script = (verdict.counterexample or {}).get("script")
    return ["", "counterexample:", script] if script else []


def _xml(text: str) -> str:
    """Replace what XML cannot hold, such as the control characters of a terminal."""
    return "".join(
        sign if sign in "\t\n" or " " <= sign < "\ud800" or "\ue000" <= sign < "\ufffe" else "?" for sign in text
    )
