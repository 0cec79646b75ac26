"""The folder that ``--out`` names: results, counterexamples and tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from optimetry.reference.errors import UsageError
from optimetry.reports import tables
from optimetry.reports.formats import MEASURED
from optimetry.reports.results import Results, Verdict


class ResultsFolder:
    """The folder of results, with a file for each counterexample; it is made where there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)

    def clear(self, verdicts: Iterable[Verdict]) -> None:
        """Remove the files of an earlier run, except those of its verdicts that are kept."""
        for name in ("table.md", "table.csv"):
            (self.folder / name).unlink(missing_ok=True)
        for file in (self.folder / "counterexamples").glob("*-*float*-*.*"):
            file.unlink()
        for verdict in verdicts:
            self.write_counterexample(verdict)

    def write_counterexample(self, verdict: Verdict) -> None:
        """Write the counterexample of a verdict, if it has one: a script, or else the bare case."""
        if verdict.counterexample is None:
            return
        script = verdict.counterexample.get("script")
        engine = re.sub(r"[^\w.-]", "-", verdict.engine)
        name = f"{verdict.optimizer}-{verdict.dtype}-{engine}.{'py' if script else 'json'}"
        file = self.folder / "counterexamples" / name
        file.parent.mkdir(exist_ok=True)
        text = (script or verdict.counterexample["case"]).rstrip("\n") + "\n"
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def write_tables(folder: Path, results: Iterable[Results]) -> list[str]:
    """Write tables of verdicts, errors, times and certificates, of what there is, into a folder; return their names.

    The folder is created if needed. Without measurements there is a table of verdicts, even an empty one.

    Raises:
        UsageError: it cannot be written.
    """
    results = list(results)
    made: dict[str, str] = {}
    for measured in MEASURED:
        if any(map(measured.of, results)):
            made[f"{measured.kind}.md"] = measured.markdown(results)
            if measured.csv is not None:
                made[f"{measured.kind}.csv"] = measured.csv(results)
    if not made or any(each.verdicts for each in results):
        made = {"table.md": tables.markdown(results), "table.csv": tables.csv_text(results)} | made
    for name, text in made.items():
        write(folder / name, text)
    return list(made)


def write(file: Path, text: str, option: str = "--out") -> None:
    """Write a text into the folder that an option names, which is created if needed.

    Raises:
        UsageError: it cannot be written.
    """
    with writing(file.parent, option):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def writing(place: Path | None, option: str = "--out") -> Iterator[None]:
    """Turn the error of a block that cannot write into one that names the option; without a place, it writes nothing.

    Raises:
        UsageError: it cannot write.
    """
    try:
        yield
    except OSError as error:
        if place is None:
            raise
        raise UsageError(f"{option} {place}: cannot be written: {error.strerror or error}") from error


def checked_folder(folder: Path | None, option: str = "--out") -> Path | None:
    """Check that a folder, if there is one, can be written or made, as far as possible without writing; return it.

    Raises:
        UsageError: it cannot.
    """
    if folder is None:
        return None
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except OSError as error:
        raise UsageError(f"{option} {folder}: {error.strerror or error}") from error
    if not existing.is_dir():
        raise UsageError(f"{option} {folder}: {existing} is a file, must be a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {folder}: no permission to write in {existing}")
    return folder
