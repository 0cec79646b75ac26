"""The one place where the tests of the reference meet the conformance engine: bounds, and the names of variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.numerics.agreement import Expected, compare
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected, with_underflow_room
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.rule import Rule

Arrays = Sequence[Any]


def case_of(
    rule: str, dtype: str, hyper: Mapping[str, Any], rates: Sequence[float], parameters: Arrays, grads: Sequence[Arrays]
) -> Any:
    """A run of a rule, as the engine is fed it."""
    return Case(rule, dtype, dict(hyper), tuple(rates), tuple(parameters), tuple(map(tuple, grads)))


def agreement(case: Any, rule: Rule, after: Any, narrow: bool) -> Any:
    """How far a trajectory, shape (steps, elements), is from a rule: ``share``, ``ulp`` and ``conforms``.

    Args:
        case: what was run.
        rule: the rule that may explain it.
        after: the parameters after every step.
        narrow: whether numbers may have been rounded to float32 wherever they are used.
    """
    names = tuple(x.name for x in rule.hyperparameters() if x.kind is float)
    oracle = expected(case, rule, narrow=(*names, LEARNING_RATE) if narrow else ())
    return compare(after, oracle, FORMATS[case.dtype])


def exact(arrays: Arrays, dtype: str) -> list[Any]:
    """Arrays as they are, with a bound of 0, for the NumPy functions of the reference."""
    return [Bounded.exact(array, with_underflow_room(FORMATS[dtype])) for array in arrays]


def number(value: float, dtype: str, narrow: bool = False) -> Any:
    """A number that is held as given, or rounded to the dtype; where narrow, it and what it makes are in float32."""
    form = with_underflow_room(FORMATS[dtype])
    held = Bounded.scalar(value, FORMATS["float32"] if narrow else form)
    return Bounded(held.value.astype(form.wide), held.bound.astype(form.wide), held.form)


def agreement_of(after: Any, steps: Sequence[Arrays], start: Any, dtype: str) -> Any:
    """As `agreement`, with what each step must give as arrays of `exact`."""
    value = np.array([np.concatenate([array.value.reshape(-1) for array in step]) for step in steps])
    bound = np.array([np.concatenate([array.bound.reshape(-1) for array in step]) for step in steps])
    return compare(after, Expected(value, bound, start), FORMATS[dtype])


def variants(rule: str, hyper: Mapping[str, Any]) -> dict[str, Rule]:
    """The named rules that differ from the documented one, by name."""
    dialects: Sequence[Any] = DIALECTS.get(rule, ())
    return {each.name: each.of(hyper) for each in dialects}


def flat(arrays: Arrays) -> Any:
    """All elements of all arrays, one after the other."""
    return np.concatenate([np.ravel(array) for array in arrays])
