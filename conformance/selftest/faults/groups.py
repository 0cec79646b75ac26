"""Targets that mix up groups of parameters: their options, their learning rates, their counts, or when they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, FaultyTarget, Start, enter
from optimetry.conformance.targets.numpy.groups import Grouped
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.protocol import Hyper

GROUPS = "groups_are_independent"


class GroupsTarget(FaultyTarget):
    """A target whose runs of one group are honest."""

    grouped: ClassVar[type[Grouped]]

    def start_groups(self, optimizer: str, groups: Sequence[tuple[Hyper, list[Array]]]) -> Grouped:
        """Begin a run over several groups."""
        kind = self.grouped if optimizer == self.optimizer else Grouped
        return kind(lambda hyper, parameters: self.start(optimizer, hyper, parameters), groups)


def groups_fault(
    name: str,
    optimizer: str,
    defect: str,
    kind: type[Grouped],
    *,
    start: Start = lambda documented, parameters, memory: run_of(documented, parameters),
    **more: Any,
) -> Fault:
    """Declare a fault that shows where there are several groups alone, by the run over groups."""
    target = type(kind.__name__, (GroupsTarget,), {"grouped": kind})
    return Fault(name, optimizer, defect, start, rejected_by=GROUPS, kind=target, **more)


class OneRate(Grouped):
    """Writes one learning rate into all groups."""

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """Step with that of the first."""
        return super().step(grads, learning_rates[:1] * len(learning_rates))


class _OptionsOfTheFirst(Grouped):
    """Reads the options of the first group for all."""

    first: Hyper | None = None

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group."""
        self.first = self.first or hyper
        super().add(self.first, parameters)


class _FlagsOfTheFirst(Grouped):
    """Reads the flags of the first group for all, and numbers of each."""

    flags: Hyper | None = None

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group."""
        self.flags = self.flags or {name: value for name, value in hyper.items() if isinstance(value, bool)}
        super().add({**hyper, **self.flags}, parameters)


class _CountOfTheFirst(Grouped):
    """Has one count of steps, which groups that are added later take over."""

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group that has had as many steps as the first."""
        super().add(hyper, parameters)
        first, last = self.runs[0], self.runs[-1]
        last.training.updates = [max(first.training.updates)] * len(parameters)  # type: ignore[attr-defined]


class _AddedIsNotTrained(Grouped):
    """Keeps the list of parameters that it began with."""

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """Leave what was added as it is."""
        known = sum(self.sizes[:2])
        return super().step([*grads[:known], *[None] * (len(grads) - known)], learning_rates)


class _StateOfTheLast(Grouped):
    """Begins all groups anew where one is added."""

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group, and forget the others' state."""
        super().add(hyper, parameters)
        for run in self.runs:
            training = run.training  # type: ignore[attr-defined]
            training.states = [training.rule.initial_state(np.zeros_like(x)) for x in training.parameters]


enter(
    groups_fault("one_rate_for_all_groups", "sgd", "every group has the learning rate of the first", OneRate),
    groups_fault(
        "options_of_the_first_group",
        "torch.adamw",
        "every group has the options of the first, so that what shall not decay does",
        _OptionsOfTheFirst,
    ),
    groups_fault("flags_of_the_first_group", "momentum", "every group is as Nesterov as the first", _FlagsOfTheFirst),
    groups_fault("added_group_takes_the_count", "adam", "a group that is added late is not new", _CountOfTheFirst),
    groups_fault("added_group_is_not_trained", "rmsprop", "a group that is added late never moves", _AddedIsNotTrained),
    groups_fault(
        "added_group_resets_the_others", "momentum", "where a group is added all velocities are lost", _StateOfTheLast
    ),
)
