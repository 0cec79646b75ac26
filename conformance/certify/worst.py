"""Searches for the inputs on which a target is furthest from a rule, as a share of the bound: the bound's own test.

A generation is an array whose elements are runs of their own. Those with the largest error ratios are kept, and fill
the next generation with copies whose bits are changed a little. Hyperparameters and learning rates are drawn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import TensorPlan, seeded_plan
from optimetry.conformance.certify.evaluated import evaluated
from optimetry.conformance.numerics.agreement import shares_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import with_underflow_room
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule

SIZE, KEPT = 2048, 128
"""How many elements a generation has, and how many of them the next is made of."""

LONGEST = 4
"""The most steps of a run: the bound grows over the steps, and errors that cancel do not."""


@dataclass(frozen=True)
class Worst:
    """What a search has found.

    Attributes:
        share: the largest error ratio that was reached by a finite result.
        case: a case of one element with it; None where nothing was judged.
        beyond: the first case of one element whose result is infinite or NaN where the rule's is a number: something on
            the way to it left the format. No ratio says how far it is off.
    """

    share: float = 0.0
    case: Case | None = None
    beyond: Case | None = None


@dataclass(frozen=True)
class WorstSearch:
    """How long a search is.

    Attributes:
        seed: what everything is drawn from.
        starts: how often hyperparameters and a first generation are drawn.
        generations: how many follow from each.
        selects: whether they follow from the worst elements; else each is drawn anew, to compare with.
    """

    seed: int = 0
    starts: int = 8
    generations: int = 12
    selects: bool = True

    def worst(self, target: Target, optimizer: str, dtype: str) -> Worst:
        """Search for the worst run of an elementwise rule on one engine.

        Raises:
            TargetFault: as for `trajectory`.
        """
        return worst_of(self.worst_from(start, target, optimizer, dtype, Guard()) for start in range(self.starts))

    def worst_from(self, start: int, target: Target, optimizer: str, dtype: str, guard: Guard) -> Worst:
        """Search from one start; its result does not depend on the others.

        Raises:
            TargetFault: as for `trajectory`.
        """
        worst, beyond, rng = Worst(), None, np.random.default_rng([self.seed, start])
        case = self._first(optimizer, dtype, f"{start} 0")
        if reason_unsupported(target, case) is not None:
            return worst
        for generation in range(self.generations):
            shares, left = ratios(target, case, guard)
            largest = int(np.argmax(shares))
            if beyond is None and left.any():
                beyond = _elements(case, [int(np.argmax(left))])
            if shares[largest] > worst.share:
                worst = Worst(float(shares[largest]), _elements(case, [largest]))
            if not self.selects:
                case = _like(case, self._first(optimizer, dtype, f"{start} {generation + 1}"))
            else:
                case = _mutated(_elements(case, np.argsort(-shares, kind="stable")[:KEPT]), rng)
        return replace(worst, beyond=beyond)

    def _first(self, optimizer: str, dtype: str, number: str) -> Case:
        """Draw hyperparameters, and a generation, as for a case of `optimetry check`."""
        drawn = seeded_plan(subject_named(optimizer), dtype, f"{self.seed} worst {number}")
        tensor = TensorPlan((SIZE,), "mixed", drawn.tensors[0].pattern, untouched=False, missing=None)
        steps = 1 + drawn.steps % LONGEST
        return dataclasses.replace(drawn, tensors=(tensor,), steps=steps, later_rate=drawn.rate).case()


def worst_of(results: Iterable[Worst]) -> Worst:
    """Return the worst of what several searches have found, the first of equal ones."""
    candidates = list(results)
    beyond = next((each.beyond for each in candidates if each.beyond is not None), None)
    return replace(max(candidates, key=lambda worst: worst.share, default=Worst()), beyond=beyond)


def ratios(target: Target, case: Case, guard: Guard) -> tuple[Array, Array]:
    """Compare every element of the one parameter of a case after its last step.

    Returns:
        the error ratios, 0 where nothing is known or the result is not finite; and where it should be but is not.
    """
    subject = cast(RuleSubject, subject_named(case.optimizer))
    (parameters,), grads = case.parameters, [cast(Array, grad) for (grad,) in case.grads]
    rule = cast(Rule, subject.of(case.hyper))
    oracle = evaluated(
        subject, rule, case.learning_rates[0], parameters, grads, with_underflow_room(FORMATS[case.dtype])
    )
    after = trajectory(target, case, guard)[-1:]
    finite = np.isfinite(after)
    return np.where(finite, shares_of(after, oracle), 0.0)[0], (oracle.known & ~finite)[0]


def _elements(case: Case, chosen: Any) -> Case:
    """Return a case with some of the elements of its parameter."""
    (parameters,) = case.parameters
    grads = tuple((cast(Array, grad)[chosen],) for (grad,) in case.grads)
    return case.replace(parameters=(parameters[chosen],), grads=grads)


def _like(case: Case, drawn: Case) -> Case:
    """Return a case with the hyperparameters, the rate and the steps of one, and the elements of another."""
    grads = [drawn.grads[i % len(drawn.grads)] for i in range(len(case.grads))]
    return case.replace(parameters=drawn.parameters, grads=tuple(grads))


def _mutated(best: Case, rng: np.random.Generator) -> Case:
    """Fill a generation with copies of the best elements, the first of each unchanged."""
    copies = SIZE // best.size

    def changed(array: Array) -> Array:
        whole = np.tile(array, copies)
        bits = whole.view(f"u{whole.dtype.itemsize}")
        reach = 2.0 ** rng.integers(0, 8 * whole.dtype.itemsize - 4, SIZE)
        apart = np.rint(rng.uniform(-1, 1, SIZE) * reach).astype(np.int64)
        apart[(rng.random(SIZE) < 0.5) | (np.arange(SIZE) < array.size)] = 0
        result: Array = (bits.astype(np.int64) + apart).astype(bits.dtype).view(whole.dtype)
        return result

    (parameters,) = best.parameters
    grads: Sequence[tuple[Array]] = [(changed(cast(Array, grad)),) for (grad,) in best.grads]
    return best.replace(parameters=(changed(parameters),), grads=tuple(grads))
