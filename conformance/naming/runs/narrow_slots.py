"""Lists slots that are held in less precision and enter each update there: frameworks round what is computed of them.

JAX multiplies an array of bfloat16 by a Python number in bfloat16: it rounds the number and the product, and only the
number where a compiler keeps the product wide. An update in place, as by ``mul_`` and ``add_`` of torch, rounds product
and sum, and the step is computed from the sum that was rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.precision import NARROWER, sets_of_slots, slots_held, stored
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

FACTORS, PRODUCTS, SUMS = "factors", "products", "sums"

WAYS = {
    "multiplied there": (FACTORS, PRODUCTS),
    "multiplied by numbers rounded to it": (FACTORS,),
    "updated there": (PRODUCTS, SUMS),
    "rounded before the step": (SUMS,),
}
"""What is rounded beside the slot that is stored, in words and as `Narrow` has it."""

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
                held = slots_held(slots, name, from_the_start=True)
                alteration = replace(held, update=partial(_updated, slots, name, rounds))
                yield Mistake(run=run, alteration=alteration, breaks=(missing_gradient,))


def _updated(
    slots: Sequence[str], name: str, rounds: Sequence[str], rule: Rule, param: Any, grad: Any, state: State, *at: Any
) -> tuple[Any, State]:
    """Update a parameter with slots that round what is computed of them."""

    def entering(slot: str, x: Any) -> Any:
        return Narrow(x, name, rounds) if slot in slots and isinstance(x, Bounded) else x

    return rule.update(param, grad, State(**{slot: entering(slot, x) for slot, x in state.items()}), *at)


class Narrow(Bounded):
    """A slot in a format, or its product with a number, which rounds the next result of it to the format.

    Args:
        x: the slot, or the product.
        name: the format's name.
        rounds: what is rounded beside it.
    """

    __slots__ = ("name", "rounds")

    def __init__(self, x: Bounded, name: str, rounds: Sequence[str]) -> None:
        super().__init__(x.value, x.bound, x.form, x.nonnegative)
        self.name, self.rounds = name, rounds

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        others = [x for x in inputs if x is not self]
        if ufunc is np.multiply and len(others) == 1 and _is_number(others[0]):
            return self._times(others[0])
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        joined = ufunc in JOINING and SUMS in self.rounds
        return stored(result, self.name) if joined and isinstance(result, Bounded) else result

    def _times(self, number: Any) -> Narrow:
        """Multiply by a number; the product of two numbers of the format is rounded once."""
        if FACTORS in self.rounds:
            factor = stored(number if isinstance(number, Bounded) else Bounded.scalar(number, self.form), self.name)
            bound = self.magnitude * factor.bound + (factor.magnitude + factor.bound) * self.bound
            nonnegative = self.nonnegative and factor.nonnegative
            product = Bounded(self.value * factor.value, bound, self.form, nonnegative)
        else:
            product = Bounded(self.value, self.bound, self.form, self.nonnegative) * number
        if PRODUCTS in self.rounds:
            product = stored(product, self.name)
        return Narrow(product, self.name, self.rounds)


def _is_number(x: Any) -> bool:
    """Whether something is a hyperparameter, or follows from some: no array."""
    return x.computed is not None if isinstance(x, Bounded) else isinstance(x, (float, int))
