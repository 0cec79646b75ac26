"""Runs programs: `Scope` holds values, `execute` runs operators over one, `Executor` runs whole programs.

To run part of a program (a section of a pipeline), make a child `Scope` of ``executor.scope``, set what the part reads
and call `execute` with ``keep`` naming what later parts need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs.places import Place, checked_place
from optimetry.reference.programs.program import Operator, Parameter, Program, Variable, default_main_program


class Scope:
    """Values by name of variable; what is not found here is looked up in the parent.

    Attributes:
        parent: the scope of persistable values, or None if this is it.
        values: the values here.
    """

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.values: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The value of a variable.

        Raises:
            ProgramError: it has none.
        """
        if name in self.values:
            return self.values[name]
        if self.parent is None:
            raise ProgramError(f"{name} has no value: run the startup program, or feed it, first")
        return self.parent.get(name)

    def set(self, variable: Variable, value: Any) -> None:
        """Set a value, in the parent where the variable is persistable."""
        home = self.parent if variable.persistable and self.parent is not None else self
        home.values[variable.name] = value

    @property
    def home(self) -> Scope:
        """The scope of persistable values."""
        return self if self.parent is None else self.parent.home

    def drop(self, name: str) -> None:
        """Forget a value of this scope."""
        self.values.pop(name, None)

    @property
    def nbytes(self) -> int:
        """The bytes of the values here, those of the parent not counted."""
        return sum(value.nbytes for value in self.values.values())


def execute(operators: Sequence[Operator], scope: Scope, keep: Collection[str] = ()) -> int:
    """Run operators in order, drop every value of this scope after its last use, and then call each ``at_end``.

    Args:
        operators: what to run.
        scope: where their values are; a child scope.
        keep: names of values that stay.

    Returns:
        The peak of `Scope.nbytes`, taken after each operator before values are dropped.

    Raises:
        ProgramError: an input has no value.
    """
    last_use = {v.name: i for i, operator in enumerate(operators) for v in (*operator.inputs, *operator.outputs)}
    home, alive, kept = scope.home, scope.values, set(keep)
    at_end: list[Callable[[], Any]] = []
    total = peak = scope.nbytes
    with np.errstate(all="ignore"):  # infinities and NaN propagate; what they mean is for the caller to judge
        for i, operator in enumerate(operators):
            values = [scope.get(variable.name) for variable in operator.inputs]
            results = operator.run(values, home)
            if operator.at_end is not None:
                at_end.append(partial(operator.at_end, *results))
            del values
            for variable, value in zip(operator.outputs, results, strict=True):
                if not variable.persistable or home is scope:
                    total += value.nbytes - (alive[variable.name].nbytes if variable.name in alive else 0)
                scope.set(variable, value)
            del results
            peak = max(peak, total)
            for variable in (*operator.inputs, *operator.outputs):
                name = variable.name
                if last_use[name] == i and name not in kept and name in alive:
                    total -= alive[name].nbytes
                    del alive[name]
    for call in at_end:
        call()
    return peak


Fetchable = Any
"""A variable, its name, or what ``minimize`` returned."""


class Executor:
    """Runs programs; its scope keeps the persistable values between runs.

    Args:
        place: a `CPUPlace` or `CUDAPlace`, as the documents' examples give one; everything runs on the CPU.

    Attributes:
        scope: the persistable values.
        peak_bytes: the most bytes of non-persistable values that were alive at once in the last run.
        runs: how often each program was run, which seeds its random operators; a program not listed was not run.

    Raises:
        ArgumentError: ``place`` is none.
    """

    def __init__(self, place: Place | None = None) -> None:
        self.place = checked_place("Executor", "place", place)
        self.scope = Scope()
        self.peak_bytes = 0
        self.runs: dict[Program, int] = {}

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Iterable[Fetchable] | None = None,
    ) -> list[Any]:
        """Run a program once, by default the default main program. A run that raises changes nothing.

        Args:
            program: what to run.
            feed: arrays by name of variable.
            fetch_list: the variables whose values are returned, or their names. What ``minimize`` returned may stand
                there too: then only those operators run on which the fetched variables and these updates depend.

        Returns:
            Copies of the fetched values.

        Raises:
            ProgramError: a variable is unknown or has no value, or an array has the wrong shape or dtype. Fetched and
                fed variables are checked before anything runs.
        """
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise ProgramError(f"Executor.run: program = {program!r}, must be a Program")
        fetched, targets = _split(program, fetch_list)
        scope = self.fed(program, {} if feed is None else feed)
        operators = program.operators if targets is None else pruned(program.operators, fetched, targets, scope.values)
        _check_inputs(operators, scope)
        before = dict(self.scope.values)
        try:
            self.peak_bytes = execute(operators, scope, keep=fetched)
        except BaseException:
            self.scope.values.clear()
            self.scope.values.update(before)
            raise
        self.runs[program] = self.runs.get(program, 0) + 1
        return [_copied(scope.get(name)) for name in fetched]

    def fed(self, program: Program, feed: Mapping[str, Any]) -> Scope:
        """A scope for one run, with what is fed.

        Args:
            program: the program that is to run in it.
            feed: arrays by name of variable.

        Raises:
            ProgramError: a variable is unknown, or an array has the wrong shape or dtype.
        """
        if not isinstance(feed, Mapping):
            raise ProgramError(f"Executor.run: feed = {feed!r}, must be a dict of arrays by name of variable")
        scope = Scope(self.scope)
        for name, value in feed.items():
            variable = program.named(name, "feed")
            scope.values[variable.name] = variable.checked(value)
        scope.set(program.run_number, np.array(self.runs.get(program, 0)))
        return scope

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r}, {len(self.scope.values)} persistable values)"


def pruned(
    operators: Sequence[Operator], wanted: Iterable[str], targets: Collection[Operator], fed: Collection[str] = ()
) -> list[Operator]:
    """The operators on which the wanted variables and the target operators depend, in order.

    Fed variables are not computed. An operator that updates a parameter is kept only as a target, not because another
    operator reads the parameter.
    """
    needed, kept = set(wanted) - set(fed), []
    for operator in reversed(operators):
        updates = any(isinstance(variable, Parameter) for variable in operator.outputs)
        is_read = not updates and any(variable.name in needed for variable in operator.outputs)
        if operator in targets or is_read:
            kept.append(operator)
            needed |= {variable.name for variable in operator.inputs if variable.name not in fed}
    return kept[::-1]


def _split(program: Program, fetch_list: Any) -> tuple[list[str], set[Operator] | None]:
    """The names of the fetched variables, and the operators of what ``minimize`` returned; None where it is not there.

    Raises:
        ProgramError: the list is none, or an entry is no variable, no name and nothing that ``minimize`` returned.
    """
    if isinstance(fetch_list, str) or not isinstance(fetch_list, Iterable | None):
        raise ProgramError(f"Executor.run: fetch_list = {fetch_list!r}, must be a list of variables or their names")
    names: list[str] = []
    targets: set[Operator] | None = None
    for entry in fetch_list or ():
        if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], list):
            operators = set(entry[0])
            if not operators <= set(program.operators):
                raise ProgramError("Executor.run: fetch_list holds what minimize returned for another program")
            targets = (targets or set()) | operators
        elif isinstance(entry, str | Variable):
            names.append(program.named(entry, "fetch_list").name)
        else:
            raise ProgramError(
                f"Executor.run: fetch_list holds {entry!r}, must be variables, names or what minimize returned"
            )
    return names, targets


def _check_inputs(operators: Sequence[Operator], scope: Scope) -> None:
    written: set[str] = set()
    for operator in operators:
        for variable in operator.inputs:
            if variable.name not in written:
                scope.get(variable.name)
        written.update(variable.name for variable in operator.outputs)


def _copied(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray | np.generic) else value
