"""Lists slots that are held in less precision and enter each update there: frameworks round what is computed of them.

JAX multiplies an array of bfloat16 by a Python number in bfloat16: it rounds the number and the product, and only the
number where a compiler keeps the product wide. An update in place, as by ``mul_`` and ``add_`` of torch, rounds product
and sum, and the step is computed from the sum that was rounded. NumPy and torch compute in float32 what is made of such
slots and Python numbers alone, as the divisor of ``lr * g / (sqrt(m) + eps)``, and in float64 what is made of a float64
array, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import missing_gradient
from optimetry.conformance.naming.mistakes import Mistake, Run
from optimetry.conformance.naming.runs.precision import NARROWER, sets_of_slots, slots_held, steps_to, stored
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

FACTORS, PRODUCTS, SUMS, RESULTS, BOUNDS = "factors", "products", "sums", "results", "bounds"

WAYS = {
    "multiplied there": (FACTORS, PRODUCTS),
    "multiplied by numbers rounded to it": (FACTORS,),
    "updated there": (PRODUCTS, SUMS),
    "rounded before the step": (SUMS,),
}
"""What is rounded beside the slot that is stored, in words and as `Narrow` has it."""

UPDATED = (FACTORS, PRODUCTS, SUMS)
"""What is rounded where a slot and numbers alone make what the slot becomes."""

STEPS = ((RESULTS,), (FACTORS, PRODUCTS, RESULTS), (BOUNDS,))
"""What is rounded of the new slot where the step computes with it in its format: in the order of the formula, by a rate
that is a number of float64 or one of Python's; or in any order, within the bound of the format."""

JOINING = (np.add, np.subtract, np.maximum)
"""The operations that make a slot of its product, or of itself, and what is new."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield the slots that may be held in less precision, and what else may be rounded to it."""
    if not isinstance(subject, RuleSubject):
        return
    for name in NARROWER.get(dtype, ()):
        for slots in sets_of_slots(subject):
            for how, rounds in WAYS.items():
                run = {"finding": "used", "what": list(slots), "format": name, "how": how}
                yield _narrowed(slots, name, rounds, run=run)


def computed_with(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield the slots with which steps may be computed in float32; in half precision that would explain too much."""
    if isinstance(subject, RuleSubject) and dtype == "float64":
        for slots in sets_of_slots(subject):
            run = {"finding": "narrowed", "what": list(slots), "format": "float32"}
            for behind in STEPS:
                saves = len(slots) if BOUNDS in behind else 0
                seen = partial(_has_more_digits, "float32")
                yield _narrowed(slots, "float32", UPDATED, behind, run=run, seen=seen, saves=saves)


def _narrowed(slots: Sequence[str], name: str, *rounds: Sequence[str], **more: Any) -> Mistake:
    held = slots_held(slots, name, from_the_start=True)
    alteration = replace(held, update=partial(_updated, slots, name, rounds))
    return Mistake(alteration=alteration, breaks=(missing_gradient,), **more)


def _has_more_digits(name: str, run: Run, cases: Iterable[Case]) -> bool:
    """Whether a step has more digits than a format: else the step is computed there, which has a name of its own."""
    return not steps_to(name, run, cases)


def _updated(
    slots: Sequence[str],
    name: str,
    rounds: Sequence[Sequence[str]],
    rule: Rule,
    param: Any,
    grad: Any,
    state: State,
    *at: Any,
) -> tuple[Any, State]:
    """Update a parameter with slots that round what is computed of them."""

    def entering(slot: str, x: Any) -> Any:
        return Narrow(x, name, *rounds) if slot in slots and isinstance(x, Bounded) else x

    return rule.update(param, grad, State(**{slot: entering(slot, x) for slot, x in state.items()}), *at)


class Narrow(Bounded):
    """A slot in a format, or what is computed of it there, which rounds the next result of it to the format.

    Args:
        x: the slot, or what is computed of it.
        name: the format's name.
        rounds: what is rounded beside it.
        behind: what is rounded beside the new slot, which it becomes.
    """

    __slots__ = ("behind", "name", "rounds")

    def __init__(self, x: Bounded, name: str, rounds: Sequence[str], behind: Sequence[str] = ()) -> None:
        super().__init__(x.value, x.bound, x.form, x.nonnegative)
        self.name, self.rounds, self.behind = name, rounds, behind

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        others = [x for x in inputs if x is not self]
        if ufunc is np.multiply and len(others) == 1 and _is_number(others[0]):
            return self._times(others[0])
        there = all(isinstance(x, Narrow) or _is_number(x) for x in others)
        if there and RESULTS in self.rounds:
            inputs = tuple(self._rounded(x) if _is_number(x) else x for x in inputs)
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if not isinstance(result, Bounded):
            return result
        if ufunc in JOINING and SUMS in self.rounds:
            new = stored(result, self.name)
            return Narrow(new, self.name, self.behind) if self.behind else new
        if there and RESULTS in self.rounds:
            return Narrow(stored(result, self.name), self.name, self.rounds)
        if there and BOUNDS in self.rounds:
            return Narrow(_computed_in(self.name, result, others), self.name, self.rounds)
        return result

    def _times(self, number: Any) -> Bounded:
        """Multiply by a number; the product of two numbers of the format is rounded once."""
        if FACTORS in self.rounds:
            factor = self._rounded(number)
            bound = self.magnitude * factor.bound + (factor.magnitude + factor.bound) * self.bound
            nonnegative = self.nonnegative and factor.nonnegative
            product = Bounded(self.value * factor.value, bound, self.form, nonnegative)
        else:
            product = Bounded(self.value, self.bound, self.form, self.nonnegative) * number
        if PRODUCTS in self.rounds:
            product = stored(product, self.name)
        elif RESULTS in self.rounds:
            return product
        elif BOUNDS in self.rounds:
            product = _computed_in(self.name, product, [product])  # the number is rounded as well
        return Narrow(product, self.name, self.rounds, self.behind)

    def _rounded(self, number: Any) -> Bounded:
        lifted = number if isinstance(number, Bounded) else Bounded.scalar(number, self.form)
        rounded: Bounded = stored(lifted, self.name)
        return rounded


def _computed_in(name: str, result: Bounded, rounded: Sequence[Any]) -> Bounded:
    """Widen the bound of a result by that of rounding it, and what is ``rounded`` before, to a format."""
    form = FORMATS[name]
    others = sum(x.magnitude if isinstance(x, Bounded) else abs(x) for x in rounded)
    with np.errstate(all="ignore"):
        bound = result.bound + form.roundoff * (result.magnitude + result.bound + others) + form.tiny
    bound = np.where(result.magnitude > form.largest, np.inf, bound)
    return Bounded(result.value, bound, result.form, result.nonnegative)


def _is_number(x: Any) -> bool:
    """Whether something is a hyperparameter, or follows from some: no array."""
    return x.computed is not None if isinstance(x, Bounded) else isinstance(x, (float, int))
