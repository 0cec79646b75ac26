"""Figures, names and files at the limits where their form changes."""

import errno
import os

import pytest

from optimetry.reports import tables
from optimetry.reports.matrix import page
from optimetry.reports.results import Computes, Header, Results, ResultsError, Verdict, Writer, file_of, read

HEADER = Header(
    optimetry="0.1.0",
    target="torch",
    target_version="2.13.0",
    platform="Linux x86_64",
    dtypes=["float32"],
    optimizers=["sgd"],
    seed=0,
    effort="quick",
)


@pytest.mark.parametrize(("value", "text"), [(9_999, "9999"), (10**4, "1.0e+04")])
def test_whole_numbers_are_written_out_below_ten_thousand(value, text):
    assert tables.number(value) == text


def test_a_name_that_fills_its_column_exactly_is_not_broken():
    rule = "abcdefg_ijklmno_qrstu"  # two words fill the narrowest column, of 16
    verdict = Verdict(optimizer="sgd", dtype="float32", verdict="dialect", dialect=rule, computes=Computes(rule))
    lines = tables.terminal([verdict], width=1).splitlines()
    assert sum("abcdefg_ijklmno_" in line for line in lines) == 1


def test_a_page_lists_each_source_on_a_line_of_its_own():
    text = page([Results(HEADER, []), Results(HEADER, [])], ["a", "b"])
    first, second = text.splitlines()[-2:]
    assert first.startswith("- [torch 2.13.0](a). ")
    assert second.startswith("- [torch 2.13.0](b). ")


def test_a_folder_stands_for_the_results_in_it(tmp_path):
    assert file_of(tmp_path) == tmp_path / "results.jsonl"
    assert file_of(tmp_path / "other.jsonl") == tmp_path / "other.jsonl"


def test_a_file_that_cannot_be_read_is_reported_as_the_system_words_it(tmp_path):
    path = tmp_path / "absent.jsonl"
    with pytest.raises(ResultsError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {os.strerror(errno.ENOENT)}"


def test_a_writer_starts_with_the_header(tmp_path):
    with Writer(tmp_path / "results.jsonl", HEADER):
        pass
    assert read(tmp_path / "results.jsonl") == Results(HEADER, [])
