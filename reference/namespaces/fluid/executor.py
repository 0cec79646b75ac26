"""``fluid.Executor``: one scope for all executors, scalars of shape (1,), and training on files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from optimetry.fluid.feeding import Dataset
from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import executor
from optimetry.reference.programs.places import Place
from optimetry.reference.programs.program import Program, Variable, default_main_program

_scopes: list[executor.Scope] = [executor.Scope()]


def global_scope() -> executor.Scope:
    """The scope of every executor, unless inside a `scope_guard`."""
    return _scopes[-1]


@contextmanager
def scope_guard(scope: executor.Scope) -> Iterator[None]:
    """Make a scope that of every executor inside ``with``."""
    if not isinstance(scope, executor.Scope):
        raise ArgumentError(f"scope_guard: scope = {scope!r}, must be a Scope")
    _scopes.append(scope)
    try:
        yield
    finally:
        _scopes.pop()


class Fetched(np.ndarray[Any, Any]):
    """A fetched array; one of a single element is a number too, as with the NumPy that fluid was written for."""

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())


class Executor(executor.Executor):
    """Runs programs in the scope that all executors share.

    Args:
        place: a `CPUPlace` or `CUDAPlace`.
    """

    def __init__(self, place: Place | None = None) -> None:
        super().__init__(place)

    @property
    def scope(self) -> executor.Scope:
        """The shared scope."""
        return global_scope()

    @scope.setter
    def scope(self, scope: executor.Scope) -> None:
        """The constructor of the base has a scope of its own, which is not used."""

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Iterable[executor.Fetchable] | None = None,
    ) -> list[Any]:
        """See `optimetry.reference.programs.Executor.run`; arrays of one element convert to numbers."""
        fetched = super().run(program, feed, fetch_list)
        return [each.view(Fetched) if isinstance(each, np.ndarray) else each for each in fetched]

    def train_from_dataset(
        self,
        program: Program | None = None,
        dataset: Dataset | None = None,
        scope: executor.Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Variable | str] | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
    ) -> None:
        """Train a program on the batches of a dataset; one that a `PipelineOptimizer` has cut, in its pipeline.

        Args:
            program: what is run; None for the default main program.
            dataset: its batches are fed.
            scope: None, or the scope to train in.
            thread: accepted as documented; batches run in order.
            debug: accepted as documented.
            fetch_list: what is printed.
            fetch_info: what is printed before each of these.
            print_period: how many batches lie between two prints; a pipeline prints once it has run all.
        """
        if not isinstance(dataset, Dataset):
            raise ArgumentError(
                f"train_from_dataset: dataset = {dataset!r}, must be of DatasetFactory().create_dataset"
            )
        whole("train_from_dataset", "print_period", print_period, "[1, inf)")
        program = default_main_program() if program is None else program
        names = [program.named(variable).name for variable in fetch_list or ()]
        labels = list(fetch_info or names)
        if len(labels) != len(names):
            raise ArgumentError(f"train_from_dataset: fetch_info = {fetch_info!r}, must be one for each of {names}")
        with scope_guard(global_scope() if scope is None else scope):
            results: Iterable[list[Any]]
            if program.pipeline is not None:
                results = program.pipeline.train(self, dataset.batches(), names).fetched
            else:
                results = (self.run(program, batch, names) for batch in dataset.batches())
            for number, values in enumerate(results):
                if names and number % print_period == 0:
                    print(", ".join(f"{label}: {value}" for label, value in zip(labels, values, strict=True)))
