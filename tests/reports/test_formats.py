"""What `optimetry check` and `report` print: a table, Markdown, or JSON."""

import dataclasses
import json
from pathlib import Path

import pytest

from optimetry.conformance.commands.cli import main
from optimetry.reports import formats
from optimetry.reports.results import Results
from tests.reports.written import BAD, GOOD, HEADER, accuracy

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"
FOUND = Results(HEADER, [GOOD, BAD], [], [accuracy()])


def test_json_has_every_digit_and_every_record():
    (record,) = json.loads(formats.as_json([FOUND]))
    assert record["header"]["target"] == "torch"
    assert [verdict["share"] for verdict in record["verdicts"]] == [GOOD.share, BAD.share]
    assert record["accuracy"][0]["points"][0]["update"]["median"] == 2e-6


def test_a_number_that_json_does_not_have_is_never_printed():
    with pytest.raises(ValueError, match="JSON"):
        formats.as_json([Results(HEADER, [dataclasses.replace(GOOD, share=float("nan"))])])


def test_markdown_has_verdicts_and_errors():
    text = formats.markdown([FOUND])
    assert "| adam " in text.split("# How accurate")[0]
    assert "2.0e-06 (2.0e-04)" in text.split("# How accurate")[1]
    assert "How accurate" not in formats.markdown([Results(HEADER, [GOOD])])


@pytest.mark.parametrize(
    ("folder", "texts"),
    [
        ("speed/sweep", {"table": "\naccelerated numba ", "markdown": "# How fast steps are"}),
        ("certificates/torch-2.13.0", {"table": "all 4,294,967,296", "markdown": "# Certificates"}),
        ("accuracy/torch-2.13.0", {"table": "torch.adagrad", "markdown": "# How accurate torch"}),
    ],
)
@pytest.mark.parametrize("form", ["table", "markdown"])
def test_whatever_was_measured_is_shown(folder, texts, form, capsys):
    assert main(["report", str(PUBLISHED / folder), "--format", form]) == 0
    assert texts[form] in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "report"])
def test_a_program_reads_standard_output(path, command, capsys, tmp_path):
    if command == "report":
        arguments = ("report", str(path), "--out", str(tmp_path / "out"))
    else:
        ledger = tmp_path / "ledger.txt"
        ledger.write_text("sgd float32 error once\n")
        quick = ("--optimizer", "sgd", "--dtype", "float32", "--effort", "quick", "-n", "1")
        arguments = ("check", "numpy", *quick, "--expect", str(ledger))
    assert main([*arguments, "--format", "json"]) == int(command == "check")
    out, err = capsys.readouterr()
    assert json.loads(out)[0]["verdicts"][0]["optimizer"] == "sgd"
    assert ("stale: " if command == "check" else "written: ") in err
