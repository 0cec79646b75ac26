"""Measurements in files of their own stand beside the verdicts on the same version of a target."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from optimetry.conformance.commands.cli import main
from optimetry.reports.joining import read_joined
from optimetry.reports.keeping import write
from optimetry.reports.results import Results, ResultsError
from tests.reports.written import BAD, GOOD, HEADER, accuracy

MEASURED = dataclasses.replace(HEADER, effort="none")
OTHER = dataclasses.replace(MEASURED, target="accelerated")


def kept(folder: Path, name: str, results: Results) -> Path:
    file = folder / name / "results.jsonl"
    write(file, results)
    return file


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    return kept(tmp_path, "verdicts", Results(HEADER, [GOOD, BAD]))


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    return kept(tmp_path, "measured", Results(MEASURED, [], [], [accuracy()]))


def test_measurements_are_added_whatever_comes_first(verdicts: Path, measured: Path) -> None:
    for files in ([verdicts, measured], [measured, verdicts]):
        ((file, results),) = read_joined(files)
        assert file == verdicts
        assert results == Results(HEADER, [GOOD, BAD], [], [accuracy()])


def test_measurements_of_another_target_stand_for_themselves(verdicts: Path, tmp_path: Path) -> None:
    other = kept(tmp_path, "other", Results(OTHER, [], [], [accuracy()]))
    newer = kept(tmp_path, "newer", Results(dataclasses.replace(MEASURED, target_version="3"), [], [], [accuracy()]))
    assert [file for file, _ in read_joined([other, newer, verdicts])] == [verdicts, other, newer]


def test_the_same_measurement_twice_is_refused(verdicts: Path, measured: Path, tmp_path: Path) -> None:
    again = kept(tmp_path, "again", Results(MEASURED, [], [], [accuracy("sgd"), accuracy(median=1.0)]))
    with pytest.raises(ResultsError) as caught:
        read_joined([verdicts, measured, again])
    text = "accuracy of adam float32 fused training, which another file of torch 2.13.0 has as well"
    assert str(caught.value) == f"{again}: {text}"


def test_the_report_of_what_is_joined(verdicts: Path, measured: Path, tmp_path: Path) -> None:
    other = kept(tmp_path, "other", Results(OTHER, [], [], [accuracy()]))
    files = [str(file.parent) for file in (measured, verdicts, other)]
    assert main(["report", *files, "--out", str(tmp_path / "out"), "--site", str(tmp_path / "site")]) == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        *("table.md", "table.csv", "matrix.md", "accuracy.md", "accuracy.csv", "accuracy-fluid-float32.svg")
    }
    picture = (tmp_path / "out" / "accuracy-fluid-float32.svg").read_text("utf-8")
    assert "torch 2.13.0" in picture
    assert "accelerated 2.13.0" in picture
    matrix = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert matrix.count('<th scope="col">') == 2, "the rule and torch: what has no verdicts has no column"
    assert "at the defaults: no one will notice" in matrix


def test_a_report_of_measurements_alone_has_no_empty_tables(measured: Path, tmp_path: Path) -> None:
    assert main(["report", str(measured), "--out", str(tmp_path / "out")]) == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        *("accuracy.md", "accuracy.csv", "accuracy-fluid-float32.svg")
    }
