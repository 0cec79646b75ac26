"""Micro-batches on their way through the sections of a pipeline, one step at a time, by whoever takes the steps.

A section takes a micro-batch in two parts. `Traffic.compute` works on the parameters as they were at `Traffic.enter`;
`Traffic.leave` updates parameters as they are by then. The bits that come out are decided by the order in which
micro-batches enter and leave sections, so a run can be repeated from that order alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from optimetry.reference.programs.executor import Executor, Scope, execute
from optimetry.reference.programs.program import Program, Variable
from optimetry.reference.programs.schedule import Turn
from optimetry.reference.programs.sections import Section


class Event(NamedTuple):
    """A micro-batch enters or leaves a section."""

    kind: Literal["enter", "leave"]
    turn: Turn


@dataclass(frozen=True)
class Trace:
    """What a pipeline did.

    Attributes:
        events: who entered and left which section, in order.
        saw: for each turn, the version of every parameter that was read: how many updates it had had in this run.
        fetched: for each micro-batch, the values of the fetched variables.
    """

    events: list[Event]
    saw: dict[Turn, dict[str, int]]
    fetched: list[list[Any]]


class Traffic:
    """The micro-batches of one run: their scopes, and the versions of the parameters.

    Args:
        sections: the sections, in order.
        program: the program that they are parts of.
        executor: whose parameters are trained.
        feeds: what is fed for each micro-batch: arrays by name of variable.
        fetch_list: the variables whose values are wanted of each micro-batch, or their names.

    Raises:
        ProgramError: a variable is unknown, or an array has the wrong shape or dtype; nothing has run.
    """

    def __init__(
        self,
        sections: Sequence[Section],
        program: Program,
        executor: Executor,
        feeds: Iterable[Mapping[str, Any]],
        fetch_list: Iterable[Variable | str] = (),
    ) -> None:
        self.sections = sections
        self.executor = executor
        self.fetches = [program.named(variable).name for variable in fetch_list]
        self.events: list[Event] = []
        self.versions: Counter[str] = Counter()
        self.saw: dict[Turn, dict[str, int]] = {}
        first_run = executor.runs.get(program, 0)
        self.scopes = []
        for micro_batch, feed in enumerate(feeds):
            scope = executor.fed(program, feed)
            scope.set(program.run_number, np.array(first_run + micro_batch))
            self.scopes.append(scope)
        for section in sections:
            for parameter in section.parameters:
                executor.scope.get(parameter.name)
        executor.runs[program] = first_run + len(self.scopes)

    def enter(self, turn: Turn) -> None:
        """Take the section's parameters as they are now."""
        scope, section = self._of(turn)
        self.events.append(Event("enter", turn))
        self.saw[turn] = {parameter.name: self.versions[parameter.name] for parameter in section.parameters}
        for parameter in section.parameters:
            scope.values[parameter.name] = self.executor.scope.get(parameter.name)

    def compute(self, turn: Turn) -> None:
        """Run the forward and backward operators on those parameters."""
        scope, section = self._of(turn)
        for_updates = {variable.name for operator in section.optimize for variable in operator.inputs}
        execute(section.compute, scope, section.keep | for_updates | {*self.fetches})
        for parameter in section.parameters:
            scope.drop(parameter.name)

    def leave(self, turn: Turn) -> None:
        """Update what the section updates."""
        scope, section = self._of(turn)
        self.events.append(Event("leave", turn))
        execute(section.optimize, scope, section.keep | {*self.fetches})
        self.versions.update(parameter.name for parameter in section.updates)

    def trace(self) -> Trace:
        """What happened, once all micro-batches have left the last section."""
        fetched = [[np.array(scope.get(name)) for name in self.fetches] for scope in self.scopes]
        return Trace(self.events, self.saw, fetched)

    def _of(self, turn: Turn) -> tuple[Scope, Section]:
        return self.scopes[turn.micro_batch], self.sections[turn.section]
