"""Evaluates a rule on every pair of some parameters and some gradients, each part once for each different input.

Parameters stand in a column and gradients in a row, which NumPy broadcasts: what depends on gradients alone is
evaluated once for each gradient. In a first step that is nearly the whole formula, since the state is the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import Format
from optimetry.conformance.oracle.expected import BoundedNumbers
from optimetry.conformance.subjects.rules import RuleSubject, training
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.rule import Rule, State


def evaluated(
    subject: RuleSubject, rule: Rule, rate: float, parameters: Array, gradients: Sequence[Array], form: Format
) -> Expected:
    """Evaluate the steps of an elementwise rule on `Bounded` numbers, and return what the last one gives.

    The same, bit by bit, as `optimetry.conformance.oracle.expected.expected` on arrays of the whole shape.

    Args:
        subject: the rule as a subject.
        rule: the rule with its hyperparameters.
        rate: the learning rate of every step.
        parameters: any shape.
        gradients: of each step, of shapes that broadcast against that of the parameters.
        form: the format whose rounding is bounded.
    """
    numbers = BoundedNumbers(subject, form)
    with default_environment():
        start = numbers.array(parameters)
        trained = training(rule.lifted(numbers.scalar), [start])
        trained.states = [State(**{slot: _once(x, start) for slot, x in state.items()}) for state in trained.states]
        largest, value = np.abs(start.value), start
        for grads in gradients:
            largest = np.fmax(largest, np.abs(value.value))
            (value,) = trained.step([numbers.array(grads)], numbers.scalar(LEARNING_RATE, rate))
    shape = np.broadcast_shapes(parameters.shape, *(grads.shape for grads in gradients))
    whole, bound = (np.broadcast_to(x, shape)[np.newaxis] for x in (value.value, value.bound))
    return Expected(whole, bound, largest)


def _once(slot: Any, parameters: Bounded) -> Any:
    """Return a slot with one row where it is the same for every parameter."""
    if not isinstance(slot, Bounded) or slot.shape != parameters.shape or slot.ndim < 2:
        return slot
    same = all(bool((x == x[:1]).all()) for x in (slot.value, slot.bound))
    return slot[:1] if same else slot
