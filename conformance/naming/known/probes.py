"""Reads and runs probes: for each family a few short runs on which every two classes are far apart.

``probes.json`` holds them in decimals. The separation of two classes is `separations` of their values in a probe, in
units of the sum of their rounding bounds; it is `APART` at least in float32 and in float64, ten times the slack. So a
target within the slack of one class is no nearer than ``APART`` bounds to any other: its name is unambiguous. A test
proves it over all pairs. ``python -m optimetry.conformance.naming.known.probe_search`` finds classes and probes anew.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import MISSING, UNLIMITED, Limits
from optimetry.conformance.naming.known.counting import COUNTED, counted, plain_case
from optimetry.conformance.naming.known.points import PointClass, classes_of, counts_steps
from optimetry.conformance.numerics.agreement import (
    LARGEST_SHARE,
    SLACK,
    Agreement,
    Expected,
    compare,
    explains,
    has_number_for_nan,
    shares_of,
)
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, run_ahead, trajectory

FILE = "probes.json"

Ranked = tuple[PointClass, Agreement]
"""A class with its agreement with the runs of a target."""

APART = 10 * SLACK
"""The separation of every two classes in some element of some probe, in float32 and in float64."""


def probes_of(optimizer: str, dtype: str, limits: Limits = UNLIMITED) -> tuple[Case, ...]:
    """Return the probes of a rule's family in one dtype, as far as offered; none where the rule has no family."""
    return _probes(optimizer, dtype, limits)  # the same cases, however the argument was left out


@cache
def _probes(optimizer: str, dtype: str, limits: Limits) -> tuple[Case, ...]:
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    form = FORMATS[dtype]

    def arrays(rows: list[list[float]]) -> tuple[Array, ...]:
        with np.errstate(over="ignore"):
            return tuple(np.array(row).astype(form.dtype) for row in rows)

    cases = (
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
    return tuple(limits.offered(case) for case in cases if _finite(case))


def _finite(case: Case) -> bool:
    return all(bool(np.isfinite(array).all()) for array in case.arrays)


@cache
def oracles_of(
    optimizer: str, dtype: str, narrow: tuple[str, ...] = (), limits: Limits = UNLIMITED
) -> tuple[tuple[Expected, ...], ...]:
    """Return the expected values of every class of `classes_of` in each probe; ``narrow`` as for `expected`."""
    probes = probes_of(optimizer, dtype, limits)
    return tuple(
        tuple(expected(case, rule_class.of(case.hyper), narrow=narrow) for case in probes)
        for rule_class in classes_of(optimizer)
    )


@cache
def counting_probe(optimizer: str, dtype: str, limits: Limits = UNLIMITED) -> Case | None:
    """Return the case that shows what t counts, of the first probe or, without a family, of a plain case.

    None for a wrapper, which counts no steps, or where gradients cannot be missing. What the document does not count, a
    target may.
    """
    if not isinstance(subject_named(optimizer), RuleSubject) or MISSING in limits.cannot:
        return None
    probes = probes_of(optimizer, dtype, limits) or (limits.offered(plain_case(optimizer, dtype)),)
    return counted(probes[0])


@dataclass(frozen=True)
class Probed:
    """A target's results in the probes that it offers.

    Attributes:
        optimizer: the rule's name.
        dtype: the dtype's name.
        runs: the numbers of those probes, each with the target's trajectory.
        counting: its trajectory in the probe that shows how steps are counted, None where it was not run, or where no
            known formula of the rule counts steps.
        counts_otherwise: whether steps without a gradient change its later steps.
        limits: what the target does not offer.
    """

    optimizer: str
    dtype: str
    runs: tuple[tuple[int, Array], ...]
    counting: Array | None = None
    counts_otherwise: bool = False
    limits: Limits = UNLIMITED
    _classes: dict[tuple[str, ...], list[PointClass]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, target: Target, optimizer: str, dtype: str, guard: Guard) -> Probed:
        """Run the probes.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        limits = limits_of(target, optimizer)
        probes = probes_of(optimizer, dtype, limits)
        run_ahead(target, probes)
        taken = [(number, case) for number, case in enumerate(probes) if reason_unsupported(target, case) is None]
        runs = tuple((number, trajectory(target, case, guard)) for number, case in taken)
        case = counting_probe(optimizer, dtype, limits)
        if case is None or reason_unsupported(target, case) is not None:
            return cls(optimizer, dtype, runs, limits=limits)
        after = trajectory(target, case, guard)
        otherwise = False
        for i, columns in enumerate(np.split(np.arange(case.size), 2)):
            steps = [step for step, row in enumerate(COUNTED) if row[i]]
            alone = trajectory(target, case.only([i]).at_steps(steps), guard)
            otherwise = otherwise or not same_bits(after[steps][:, columns], alone)
        return cls(optimizer, dtype, runs, after if counts_steps(optimizer) else None, otherwise, limits)

    @property
    def cases(self) -> list[tuple[Case, Array]]:
        """The probes that were run, each with the target's trajectory."""
        probes = probes_of(self.optimizer, self.dtype, self.limits)
        cases = [(probes[number], after) for number, after in self.runs]
        case = counting_probe(self.optimizer, self.dtype, self.limits)
        return cases if case is None or self.counting is None else [*cases, (case, self.counting)]

    def explained_by(self, oracle: Callable[[Case], Expected]) -> bool:
        """Whether a rule explains every run; ``expected`` returns its value in a probe."""
        return all(explains(after, oracle(case), case.form) for case, after in self.cases)

    def classes(self, narrow: tuple[str, ...] = ()) -> list[PointClass]:
        """Return the classes that explain every run, numbers perhaps held in float32; none where nothing was run."""
        if narrow not in self._classes:
            explaining = [
                (rule_class, oracles) for rule_class, oracles in self._oracles(narrow) if self._explained(oracles)
            ]
            self._classes[narrow] = [rule_class for rule_class, _ in self._ranked(explaining)]
        return self._classes[narrow]

    def unnamed(self, narrow: tuple[str, ...] = ()) -> list[PointClass]:
        """Return the classes that explain every run and are neither documented nor named."""
        return [
            rule_class
            for rule_class in self.classes(narrow)
            if not rule_class.documented and rule_class.dialect is None
        ]

    @cached_property
    def agreements(self) -> list[Ranked]:
        """Every class with its agreement, the nearest first; none where nothing was run.

        A number where the class gives NaN counts as infinitely far.
        """
        return self._ranked(self._oracles())

    def nearest(self) -> list[PointClass]:
        """Return the class with the smallest error ratio, and the one that most elements agree with, a named one first.

        Empty where nothing was run.
        """
        if not self.runs:
            return []
        _, _, most = min((self._apart(oracles), number, rule) for number, (rule, oracles) in enumerate(self._oracles()))
        return [self.agreements[0][0], most]

    def _oracles(self, narrow: tuple[str, ...] = ()) -> list[tuple[PointClass, tuple[Expected, ...]]]:
        """Return every class with its expected values in the probes; none where nothing was run."""
        if not self.runs:
            return []
        oracles = oracles_of(self.optimizer, self.dtype, narrow, self.limits)
        return list(zip(classes_of(self.optimizer), oracles, strict=True))

    def _explained(self, oracles: tuple[Expected, ...]) -> bool:
        """Whether a class explains every run; most fail in the first steps."""
        form = FORMATS[self.dtype]
        return all(explains(after, oracles[number], form) for number, after in self.runs)

    def _ranked(self, classes: Sequence[tuple[PointClass, tuple[Expected, ...]]]) -> list[Ranked]:
        """Return classes with their agreements, the nearest first."""
        ranked = [(rule_class, self._agreement(oracles)) for rule_class, oracles in classes]
        return sorted(ranked, key=lambda pair: pair[1].share)

    def _apart(self, oracles: tuple[Expected, ...]) -> int:
        """Count the elements that are outside the slack, or unknown, in the last step."""
        count = 0
        for number, after in self.runs:
            count += int(np.count_nonzero((shares_of(after, oracles[number]) > SLACK)[-1] | ~oracles[number].known[-1]))
        return count

    def _agreement(self, oracles: tuple[Expected, ...]) -> Agreement:
        form = FORMATS[self.dtype]
        agreement = sum((compare(after, oracles[number], form) for number, after in self.runs), Agreement())
        if any(has_number_for_nan(after, oracles[number]) for number, after in self.runs):
            return dataclasses.replace(agreement, share=LARGEST_SHARE)
        return agreement
