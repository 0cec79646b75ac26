"""An unfinished results file is read, cut where it is whole, and written on: the end is the file of one run."""

import dataclasses

import pytest

from optimetry.reports.keeping import CHANGED, add, check_fits, cut, write
from optimetry.reports.results import Results, ResultsError, Writer, read
from tests.reports.written import ABSENT, BAD, GOOD, HEADER, accuracy, refusal


@pytest.fixture
def whole(path):
    """The text of a finished file."""
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("missing", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("half", ["", '{"kind": "verdict", "opt', "{}"])
def test_what_an_unfinished_file_has_is_read_cut_and_continued(path, whole, missing, half):
    lines = whole.splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) - missing]) + half, encoding="utf-8")
    kept = read(path, unfinished=True)
    verdicts = [GOOD, BAD, ABSENT]
    assert (kept.header, kept.verdicts) == (HEADER, verdicts[: min(4 - missing, 3)])
    cut(path, kept)
    assert path.read_text(encoding="utf-8") == "".join(lines[: 1 + len(kept.verdicts)])
    with Writer(path, HEADER, kept) as writer:
        for verdict in verdicts[len(kept.verdicts) :]:
            writer.write(verdict)
    assert path.read_text(encoding="utf-8") == whole
    assert len(kept.verdicts) == min(4 - missing, 3)  # what was read is not what is written


def test_a_line_that_is_cut_off_is_dropped_though_it_is_an_object(path, whole):
    path.write_text("".join(whole.splitlines(keepends=True)[:3])[:-1], encoding="utf-8")
    assert read(path, unfinished=True).verdicts == [GOOD]


def test_a_header_that_is_cut_off_is_no_results_file(path, whole):
    path.write_text(whole.splitlines()[0][:-5], encoding="utf-8")
    with pytest.raises(ResultsError, match="not a results file of optimetry"):
        read(path, unfinished=True)


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0c"])
def test_lines_end_where_json_lines_do_and_nowhere_else(path, whole, separator):
    path.write_text(whole.replace("conforms", "conforms", 1).replace('"reason": ""', f'"reason": "{separator}"', 1))
    if separator != "\x0c":  # which JSON has escaped alone
        assert read(path).verdicts[0].reason == separator


def test_an_unfinished_file_is_refused_where_none_is_expected(path, whole):
    path.write_text("".join(whole.splitlines(keepends=True)[:3]), encoding="utf-8")
    assert "unfinished: its run did not end, no footer after 2 verdicts" in refusal(path)


def test_a_broken_line_in_the_middle_is_refused_nevertheless(path, whole):
    lines = whole.splitlines(keepends=True)
    path.write_text("".join([*lines[:2], "half\n", *lines[2:]]), encoding="utf-8")
    with pytest.raises(ResultsError, match="line 3: not a JSON object"):
        read(path, unfinished=True)


def test_a_file_that_does_not_begin_with_what_is_kept_is_not_cut(path, whole):
    kept = read(path)
    changed = whole.replace('"seed": 7', '"seed":  7')
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        cut(path, kept)
    assert str(caught.value) == f"{path}: {CHANGED}"
    assert path.read_text(encoding="utf-8") == changed


def test_a_file_is_written_at_once_into_folders_that_are_not_there_yet(tmp_path):
    file = tmp_path / "of a target" / "of a run" / "results.jsonl"
    write(file, Results(HEADER, [GOOD, BAD]))
    assert read(file) == Results(HEADER, [GOOD, BAD])
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_measurements_of_other_rules_and_dtypes_are_added_to_the_header(tmp_path):
    path, first = tmp_path / "results.jsonl", dataclasses.replace(HEADER, effort="none")
    second = dataclasses.replace(first, dtypes=["float64", "float32"], optimizers=["lion", "sgd"])
    add(path, Results(first, accuracy=[accuracy()]))
    add(path, Results(second, accuracy=[accuracy("lion", dtype="float64")]))
    kept = read(path)
    assert (kept.header.dtypes, kept.header.optimizers) == (["float32", "float64"], ["adam", "sgd", "lion"])
    assert [each.optimizer for each in kept.accuracy] == ["adam", "lion"]


def test_a_file_about_another_target_is_refused_before_anything_is_measured(path, tmp_path):
    check_fits(tmp_path / "none.jsonl", HEADER)
    check_fits(path, HEADER)
    with pytest.raises(ResultsError) as refused:
        check_fits(path, dataclasses.replace(HEADER, target="keras"))
    assert str(refused.value).startswith(f"{path}")
