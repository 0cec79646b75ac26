"""What feeds a program: `DataFeeder` from rows of Python values, `Dataset` from files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs.places import Place, checked_place
from optimetry.reference.programs.program import Program, Variable, default_main_program, is_float


def _checked(owner: str, argument: str, variables: Any, program: Program | None = None) -> list[Variable]:
    """Variables, or names of those of the program."""
    if not isinstance(variables, list | tuple) or not all(isinstance(each, Variable | str) for each in variables):
        raise ArgumentError(f"{owner}: {argument} = {variables!r}, must be a list of variables")
    return [(program or default_main_program()).named(each) if isinstance(each, str) else each for each in variables]


class DataFeeder:
    """Turns rows, one value for each variable, into arrays for ``feed``.

    Args:
        feed_list: the variables, or their names, in the order of a row.
        place: accepted as documented.
        program: has the names; None for the default main program.
    """

    def __init__(
        self, feed_list: Sequence[Variable | str], place: Place | None = None, program: Program | None = None
    ) -> None:
        self.feed_list = _checked("DataFeeder", "feed_list", feed_list, program)
        self.place = checked_place("DataFeeder", "place", place)

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """Arrays by name of variable, with one entry along the first axis for each row.

        Raises:
            ArgumentError: a row has not one value for each variable, or a value does not fit its shape or dtype.
        """
        rows = list(iterable)
        for row in rows:
            if len(row) != len(self.feed_list):
                raise ArgumentError(f"DataFeeder: a row of {len(row)} values, must be {len(self.feed_list)}")
        return {
            variable.name: self._column(variable, [row[i] for row in rows]) for i, variable in enumerate(self.feed_list)
        }

    def _column(self, variable: Variable, values: Sequence[Any]) -> Any:
        shape = [-1 if length is None else length for length in variable.shape[1:]]
        try:
            return np.stack([np.asarray(value, variable.dtype).reshape(shape) for value in values])
        except (ValueError, OverflowError) as error:
            raise ArgumentError(f"DataFeeder: {variable.name} has shape {variable.shape}: {error}") from error


class Dataset:
    """Batches from text files, in the format of fluid: a line is a row, ``1 7 2 0.5 0.25`` the values of the variables.

    Each variable has the number of its values, then the values: whole numbers, unless its dtype is a float one.
    """

    def __init__(self) -> None:
        self._variables: list[Variable] = []
        self._batch_size = 1
        self._files: list[str] = []

    def set_use_var(self, var_list: Sequence[Variable]) -> None:
        """Set the variables, in the order of a line."""
        self._variables = _checked("Dataset", "var_list", var_list)

    def set_batch_size(self, batch_size: int) -> None:
        """Set how many lines are a batch."""
        self._batch_size = whole("Dataset", "batch_size", batch_size, "[1, inf)")

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """Set the files, read one after the other."""
        if not isinstance(filelist, list | tuple) or not all(isinstance(file, str | Path) for file in filelist):
            raise ArgumentError(f"Dataset: filelist = {filelist!r}, must be a list of files")
        for file in filelist:
            if not Path(file).is_file():
                raise ArgumentError(f"Dataset: {file} in filelist, must be a file")
        self._files = [str(file) for file in filelist]

    def set_thread(self, thread_num: int) -> None:
        """Accepted as in fluid; lines are read in order."""
        whole("Dataset", "thread_num", thread_num, "[1, inf)")

    def batches(self) -> Iterator[dict[str, Any]]:
        """What is fed for each batch, the last one perhaps shorter."""
        feeder = DataFeeder(self._variables)
        rows: list[list[list[Any]]] = []
        for row in self._rows():
            rows.append(row)
            if len(rows) == self._batch_size:
                yield feeder.feed(rows)
                rows = []
        if rows:
            yield feeder.feed(rows)

    def _rows(self) -> Iterator[list[list[Any]]]:
        for file in self._files:
            for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
                words = line.split()
                row = []
                try:
                    for variable in self._variables:
                        count, number_of = int(words.pop(0)), float if is_float(variable.dtype) else int
                        row.append([number_of(words.pop(0)) for _ in range(count)])
                    if words:
                        raise ValueError(f"{len(words)} words are left over")
                except (IndexError, ValueError):
                    variables = ", ".join(f"{variable.name} ({variable.dtype})" for variable in self._variables)
                    raise ArgumentError(
                        f"Dataset: {file}:{number}: {line!r}, must be a count and values for each of {variables}"
                    ) from None
                yield row

    def __repr__(self) -> str:
        return f"Dataset({[v.name for v in self._variables]}, batch_size={self._batch_size}, files={self._files})"


class DatasetFactory:
    """Makes datasets by the names of fluid's classes; one class here serves for all."""

    NAMES = ("QueueDataset", "InMemoryDataset", "FileInstantDataset")

    def create_dataset(self, datafeed_class: str = "QueueDataset") -> Dataset:
        """A dataset."""
        if datafeed_class not in self.NAMES:
            raise ArgumentError(
                f"create_dataset: datafeed_class = {datafeed_class!r}, must be one of {', '.join(self.NAMES)}"
            )
        return Dataset()
