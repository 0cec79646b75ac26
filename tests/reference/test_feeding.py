"""What fluid feeds a program: rows of values, files of batches, and what training on them prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry import fluid
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import layers
from optimetry.reference.programs.program import Variable


@pytest.fixture
def x() -> Variable:
    return layers.data("x", [None, 2], "float32")


def dataset(x: Variable, folder: Path, *lines: str, batch_size: int = 2) -> Any:
    """A dataset of two files, the first of one line."""
    files = [folder / "first.txt", folder / "second.txt"]
    for file, content in zip(files, (lines[:1], lines[1:]), strict=True):
        file.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
    made = fluid.DatasetFactory().create_dataset("InMemoryDataset")
    made.set_use_var([x])
    made.set_batch_size(batch_size)
    made.set_filelist(files)
    return made


def test_rows_are_stacked_for_each_variable(x: Variable) -> None:
    ids = layers.data("ids", [None, 1], "int64")
    fed = fluid.DataFeeder(["x", ids]).feed([([1, 2], [7]), ([3, 4], 8)])
    assert list(fed) == ["x", "ids"]
    np.testing.assert_array_equal(fed["x"], np.array([[1, 2], [3, 4]], np.float32), strict=True)
    np.testing.assert_array_equal(fed["ids"], np.array([[7], [8]]), strict=True)


def test_a_row_has_one_value_for_each_variable(x: Variable) -> None:
    with pytest.raises(ArgumentError, match=r"^DataFeeder: a row of 2 values, must be 1$"):
        fluid.DataFeeder([x]).feed([([1, 2],), ([1, 2], 3)])
    with pytest.raises(ArgumentError, match=r"^DataFeeder: x has shape \(None, 2\): cannot reshape"):
        fluid.DataFeeder([x]).feed([([1, 2, 3],)])


def test_batches_run_over_files_and_the_last_may_be_shorter(x: Variable, tmp_path: Path) -> None:
    batches = list(dataset(x, tmp_path, "2 1 2", "2 3 4", "2 5 6").batches())
    assert [batch["x"].tolist() for batch in batches] == [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]
    whole = list(dataset(x, tmp_path, "2 1 2", "2 3 4").batches())
    assert [batch["x"].tolist() for batch in whole] == [[[1.0, 2.0], [3.0, 4.0]]]


@pytest.mark.parametrize("line", ["2 1", "1.5 1 2", "2 1 b", "", "2 1 2 3"])
def test_a_line_that_is_no_row_is_named_with_its_file_and_number(line: str, x: Variable, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        list(dataset(x, tmp_path, "2 1 2", "2 3 4", line).batches())
    message = f"Dataset: {tmp_path / 'second.txt'}:2: {line!r}, must be a count and values for each of x (float32)"
    assert str(caught.value) == message


def test_whole_numbers_are_read_exactly_and_others_refused(x: Variable, tmp_path: Path) -> None:
    ids = layers.data("ids", [None, 1], "int64")
    (batch,) = dataset(ids, tmp_path, "1 9007199254740993").batches()
    assert batch["ids"].tolist() == [[9007199254740993]]
    for line, text in (("1 7.9", r"must be a count and values for each of ids \(int64\)"), (f"1 {2**63}", "too large")):
        with pytest.raises(ArgumentError, match=text):
            list(dataset(ids, tmp_path, line).batches())


def test_training_prints_what_is_fetched_from_every_so_many_batches(
    x: Variable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doubled = layers.mean(x * 2.0)
    batches = dataset(x, tmp_path, *(f"2 {i} {i}" for i in range(5)), batch_size=1)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.train_from_dataset(dataset=batches, fetch_list=[doubled], fetch_info=["twice"], print_period=2)
    assert capsys.readouterr().out == "twice: 0.0\ntwice: 4.0\ntwice: 8.0\n"
    exe.train_from_dataset(dataset=batches, fetch_list=[doubled.name])
    assert capsys.readouterr().out == f"{doubled.name}: 0.0\n", "of every hundred the first, by its own name"
    exe.train_from_dataset(dataset=batches)
    assert capsys.readouterr().out == ""


def test_training_prints_before_a_later_batch_fails(
    x: Variable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = dataset(x, tmp_path, "2 1 1", "2 2", batch_size=1)
    with pytest.raises(ArgumentError, match=r"second\.txt:1"):
        fluid.Executor().train_from_dataset(dataset=batches, fetch_list=[layers.mean(x)], fetch_info=["mean"])
    assert capsys.readouterr().out == "mean: 1.0\n"


def test_every_printed_value_needs_its_label(x: Variable, tmp_path: Path) -> None:
    with pytest.raises(
        ArgumentError, match=r"^train_from_dataset: fetch_info = \['a', 'b'\], must be one for each of "
    ):
        fluid.Executor().train_from_dataset(
            dataset=dataset(x, tmp_path, "2 1 2"), fetch_list=[layers.mean(x)], fetch_info=["a", "b"]
        )


def test_a_kind_of_dataset_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(ArgumentError) as caught:
        fluid.DatasetFactory().create_dataset("Fast")
    assert str(caught.value) == (
        "create_dataset: datafeed_class = 'Fast', must be one of QueueDataset, InMemoryDataset, FileInstantDataset"
    )
