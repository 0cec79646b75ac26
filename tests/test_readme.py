"""What README.md shows is so: its figures are those of the pages that measure them, and its example runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.loading import made
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reports.results import read
from optimetry.reports.tables import terminal
from tests import pages
from tests.readme_figures import README, ROOT, written

TEXT = README.read_text(encoding="utf-8")


def blocks(section: str) -> list[tuple[str, str]]:
    """The code blocks of a section, each with its language."""
    return pages.blocks(TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0])


def test_the_figures_are_the_measured_ones() -> None:
    assert written(TEXT) == TEXT, "run `python -m tests.readme_figures`"


def test_every_fault_is_rejected_and_nothing_is_named_wrongly() -> None:
    """The figures may change, but not what they say."""
    rows = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
    results = {row[0].split(":")[0]: tuple(row[1:]) for row in rows if len(row) == 3}
    faults, _ = results["faulty optimizers"]
    assert results["faulty optimizers"] == (faults, f"{faults} rejected")
    equivalents, _ = results["honest re-implementations"]
    assert results["honest re-implementations"] == (equivalents, f"{equivalents} conform")
    assert results["all diagnoses together"][1] == "0 named wrongly"


def cells(line: str) -> list[str]:
    """The cells of a row as a terminal shows them."""
    return re.split(r" {2,}", line.strip())


def shown(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """The column names, and the rows with their reasons in place of the labels."""
    notes = {
        label: " ".join(reason.split())
        for label, reason in re.findall(r"^(\[\d+\]) +(.+(?:\n {5}.+)*)$", text, re.MULTILINE)
    }
    heading, _, *rows = text.partition("\n\n")[0].splitlines()
    return [cells(heading)], [[notes.get(cell, cell) for cell in cells(row)] for row in rows]


def test_the_output_shown_is_what_was_published() -> None:
    """Rows and their reasons; a row that is not of the run, or an engine left out of one, fails."""
    version = FRAMEWORKS["torch"].version
    published = read(ROOT / "reports" / "published" / f"torch-{version}" / "results.jsonl")
    (_, output), *_ = blocks("What you get")
    about, table = output.split("\n\n", 1)
    assert about.startswith(f"torch {version}. Judged by optimetry ")
    headings, rows = shown(table)
    all_headings, all_rows = shown(terminal(published.verdicts, width=1000))
    assert headings == all_headings
    assert len(rows) >= 6
    assert {row[3] for row in rows} >= {"conforms", "dialect", "diverges", "error"}
    for row in rows:
        assert row in all_rows


@pytest.mark.usefixtures("few_cases")
@pytest.mark.parametrize(
    ("page", "section", "file"),
    [
        ("README.md", "Judge your own in ten lines", "adapter.py"),
        ("docs/your-own-class.md", "Clips, regularizers and averages", "clips.py"),
    ],
)
def test_an_example_conforms_by_the_command_shown(
    page: str, section: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    assert re.search(r"^optimetry check ", text, re.MULTILINE)
    pages.play(text, tmp_path)
    assert (tmp_path / file).is_file()


def test_the_pytest_line_judges_the_target_of_ten_lines(tmp_path: Path) -> None:
    code = next(code for kind, code in blocks("Judge your own in ten lines") if kind == "python")
    (tmp_path / "adapter.py").write_text(code, encoding="utf-8")
    (line,) = re.findall(r"`(pytest --pyargs [^`]+)`", " ".join(TEXT.split()))
    run = subprocess.run(
        [sys.executable, "-m", *shlex.split(line)], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "4 passed" in run.stdout


def test_the_attributes_of_a_narrow_target_are_allowed() -> None:
    page = (ROOT / "docs" / "your-own-class.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(next(code for kind, code in blocks("Judge your own in ten lines") if kind == "python"), names)
    exec(next(code for _, code in pages.blocks(page) if "MyNarrowTarget" in code), names)
    narrow = made(names["MyNarrowTarget"], "your-own-class.md")
    assert limits_of(narrow, "adam").untried()[-1] == "epsilon other than 1e-08"
    assert limits_of(narrow, "momentum").untried()[-1] == "momentum above 0.99"
