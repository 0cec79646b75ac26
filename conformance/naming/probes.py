"""Reads and runs probes: for each family a few short runs on which every two classes are far apart.

``probes.json`` holds them in decimals. The separation of two classes is `separations` of their values in a probe, in
units of the sum of their rounding bounds; it is `APART` at least in float32 and in float64, ten times the slack. So a
target within the slack of one class is no nearer than ``APART`` bounds to any other: its name is unambiguous. A test
proves it over all pairs. ``python -m optimetry.conformance.naming.probe_search`` finds classes and probes anew.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.points import PointClass, classes_of
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, SLACK, Agreement, Expected, compare, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

FILE = "probes.json"

APART = 10 * SLACK
"""The separation of every two classes in some element of some probe, in float32 and in float64."""


@cache
def probes_of(optimizer: str, dtype: str) -> tuple[Case, ...]:
    """Return the probes of a rule's family that one dtype can hold; none where the rule has no family."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    form = FORMATS[dtype]

    def arrays(rows: list[list[float]]) -> tuple[Array, ...]:
        with np.errstate(over="ignore"):
            return tuple(np.array(row).astype(form.dtype) for row in rows)

    probes = (
        Case(
            optimizer=optimizer,
            dtype=dtype,
            hyper=probe["hyper"],
            learning_rates=tuple(probe["learning_rates"]),
            parameters=arrays(probe["parameters"]),
            grads=tuple(arrays(step) for step in probe["grads"]),
        )
        for probe in json.loads(text).get(optimizer, [])
    )
    return tuple(case for case in probes if _finite(case))


def _finite(case: Case) -> bool:
    arrays = [*case.parameters, *(grad for grads in case.grads for grad in grads if grad is not None)]
    return all(bool(np.isfinite(array).all()) for array in arrays)


@cache
def oracles_of(optimizer: str, dtype: str, narrow: tuple[str, ...] = ()) -> tuple[tuple[Expected, ...], ...]:
    """Return the expected values of every class of `classes_of` in each probe; ``narrow`` as for `expected`."""
    return tuple(
        tuple(expected(case, rule_class.of(case.hyper), narrow=narrow) for case in probes_of(optimizer, dtype))
        for rule_class in classes_of(optimizer)
    )


@dataclass(frozen=True)
class Probed:
    """A target's results in the probes that it offers.

    Attributes:
        optimizer: the rule's name.
        dtype: the dtype's name.
        runs: the numbers of those probes, each with the target's trajectory.
    """

    optimizer: str
    dtype: str
    runs: tuple[tuple[int, Array], ...]

    @classmethod
    def of(cls, target: Target, optimizer: str, dtype: str, guard: Guard) -> Probed:
        """Run the probes.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        taken = [
            (number, case)
            for number, case in enumerate(probes_of(optimizer, dtype))
            if reason_unsupported(target, case) is None
        ]
        return cls(optimizer, dtype, tuple((number, trajectory(target, case, guard)) for number, case in taken))

    @property
    def cases(self) -> list[tuple[Case, Array]]:
        """The probes that were run, each with the target's trajectory."""
        return [(probes_of(self.optimizer, self.dtype)[number], after) for number, after in self.runs]

    def explained_by(self, oracle: Callable[[Case], Expected]) -> bool:
        """Whether a rule explains every run; ``expected`` returns its value in a probe."""
        return all(explains(after, oracle(case), case.form) for case, after in self.cases)

    def classes(self, narrow: tuple[str, ...] = ()) -> list[PointClass]:
        """Return the classes that explain every run, numbers perhaps held in float32; none where nothing was run."""
        return [rule_class for rule_class, agreement in self.agreements(narrow) if agreement.conforms]

    def unnamed(self, narrow: tuple[str, ...] = ()) -> list[PointClass]:
        """Return those of them that are neither documented nor named."""
        return [
            rule_class
            for rule_class in self.classes(narrow)
            if not rule_class.documented and rule_class.dialect is None
        ]

    def agreements(self, narrow: tuple[str, ...] = ()) -> list[tuple[PointClass, Agreement]]:
        """Return every class with its agreement, the nearest first; none where nothing was run.

        A number where the class gives NaN counts as infinitely far.
        """
        if not self.runs:
            return []
        oracles = oracles_of(self.optimizer, self.dtype, narrow)
        found = [
            (rule_class, self._agreement(has))
            for rule_class, has in zip(classes_of(self.optimizer), oracles, strict=True)
        ]
        return sorted(found, key=lambda pair: pair[1].share)

    def _agreement(self, has: tuple[Expected, ...]) -> Agreement:
        form = FORMATS[self.dtype]
        found = sum((compare(after, has[number], form) for number, after in self.runs), Agreement())
        if any(not np.isnan(after)[np.isnan(has[number].value)].all() for number, after in self.runs):
            return dataclasses.replace(found, share=LARGEST_SHARE)
        return found
