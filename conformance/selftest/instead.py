"""The reference with another formula for one subject: the target behind every fault and every trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.declaration import Declared

Start = Callable[[Declared, list[Array]], Any]
"""Begins a run, given the documented formula and the parameters."""


class Instead(NumpyTarget):
    """The documented rules and wrappers, except for what ``begin`` starts.

    Attributes:
        begin: starts the runs that are different.
        optimizer: the subject that is different, None for every one.
        name: the target's name.
        engine: its engine's.
    """

    def __init__(
        self, begin: Start, optimizer: str | None = None, name: str = "instead", engine: str = "default"
    ) -> None:
        self.begin, self.optimizer, self.name, self.engine, self.version = begin, optimizer, name, engine, "0"

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        """Begin a run of a rule."""
        if self.optimizer not in (None, optimizer):
            return super().start(optimizer, hyper, parameters)
        return self.begin(subject_named(optimizer).of(hyper), parameters)

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> Any:
        """Begin a run of a wrapper."""
        if self.optimizer not in (None, wrapper):
            return super().start_wrapper(wrapper, hyper, parameters)
        return self.begin(subject_named(wrapper).of(hyper), parameters)


def computing(rule: PointClass | Dialect | Explanation, engine: str = "default") -> Instead:
    """A target that computes a class of rules, a dialect or an explanation, for its subject alone.

    Of an explanation's arithmetic it has what is the same everywhere: increments, and numbers held in float32.
    """
    point = rule.rule if isinstance(rule, Explanation) else rule
    formula = rule.computed if isinstance(rule, Explanation) else rule.of
    rounds_rate = isinstance(rule, Explanation) and LEARNING_RATE in rule.arithmetic.float32

    def begin(documented: Declared, parameters: list[Array]) -> Any:
        run: Any = run_of(formula(documented.hyper()), parameters)
        if rounds_rate:
            plain = run.step
            run.step = lambda grads, rate: plain(grads, to_float32(rate))
        return run

    return Instead(begin, point.optimizer, point.name, engine)
