"""Yields rules with several things beside them, such as a clip, a decay and a warm-up, by runs in which most rest.

From parameters of 0, by small gradients and a tiny learning rate, neither a clip nor a decay shows: what is left is the
schedule. From other parameters, by small gradients, the decay joins it. What else there may be is tried beside both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.naming.candidates import arithmetics, runs_beside
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.naming.measured import factors, schedules
from optimetry.conformance.naming.mistakes import Mistake, Mistaken, together
from optimetry.conformance.naming.solved import decays
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.errors import TargetFault

SIZE = 8
"""The elements of the only parameter of the runs that show a schedule, or a decay."""

SMALLEST, SMALL = 2.0**-20, 2.0**-8
"""The least magnitude of their gradients, whose largest is twice that: no usual clip limits them, and none by a part of
a parameter, the former beside parameters of 0."""

TINY = (2.0**-72,) * 12
"""Learning rates from parameters of 0, which stay next to it."""

LARGE = (64.0, 32.0, 16.0)
"""Learning rates from others, which show a small decay of those that are large."""

ZEROS, SIZES = np.zeros(SIZE), 2.0 ** np.linspace(0, 12, SIZE)
"""The magnitudes of the elements of the parameter."""


def several(
    observed: Observed, rules: Iterable[PointClass], possible: Callable[[Mistake], bool]
) -> Iterator[list[Mistaken]]:
    """Yield rules with several things beside them, or with a schedule alone, in tiers, the fewest first.

    Args:
        observed: the engine.
        rules: beside which something is looked for.
        possible: whether it may be there, by the laws that the engine breaks.
    """
    usual, optimizer, dtype = with_defaults(observed), observed.optimizer, observed.dtype
    if usual is None:
        return
    calm, mild = (observed.limits.offered(case) for case in (_calm(usual), gentle(usual)))
    if not (observed.offers(calm) and observed.offers(mild)):
        return
    try:
        after_calm, after_mild = observed.run_anew(calm), observed.run_anew(mild)
    except TargetFault:  # of such learning rates, which are no case
        return
    for rule in rules:
        explanation = Explanation(rule, arithmetics(optimizer, dtype)[-1])
        beside = keeping_digits(rule, optimizer, dtype, possible)
        for schedule in schedules(factors(explanation.expected(calm), after_calm)):
            for decay in decays(explanation, schedule[:1], mild, after_mild):
                ways: Sequence[tuple[Mistake, ...]] = [(each,) for each in schedule] or [()]
                found = [(decay, way) for way in ways if decay or way]
                yield from ([Mistaken(explanation, together([*decay, *way]))] for decay, way in found)
                yield from (
                    [Mistaken(explanation, together([*decay, x, *way])) for x in tier]
                    for decay, way in found
                    for tier in beside
                )


def with_defaults(observed: Observed) -> Case | None:
    """Return a first case with default hyperparameters; None where none is offered, or has no learning rate."""
    first, subject = next(observed.first_offered(), None), subject_named(observed.optimizer)
    if first is None or not subject.has_learning_rate:
        return None
    defaults = {x.name: x.default for x in subject.hyperparameters() if x.default is not None}
    return first.replace(hyper={**first.hyper, **defaults})


def keeping_digits(
    rule: PointClass, optimizer: str, dtype: str, possible: Callable[[Mistake], bool]
) -> list[list[Mistake]]:
    """Return what may be beside a rule, in tiers, but for what loses digits: its wide bounds explain too much."""
    tiers = runs_beside(rule, optimizer, dtype)
    return [kept for tier in tiers if (kept := [x for x in tier if possible(x) and not x.loses_digits])]


def _calm(first: Case) -> Case:
    """Return a run in which nothing shows but a schedule, with hyperparameters of a case."""
    return _of_one(first, TINY, ZEROS, SMALLEST)


def gentle(first: Case) -> Case:
    """Return a run of small gradients with hyperparameters of a case, in which decays show as well."""
    return _of_one(first, LARGE, SIZES, SMALL)


def _of_one(first: Case, rates: tuple[float, ...], sizes: Array, least: float) -> Case:
    """Return a run of one parameter with elements of some sizes, with gradients of some magnitude at least.

    The gradients of an element have one sign, so that nothing shows that depends on whether steps go against them.
    """
    subject, kind = subject_named(first.optimizer), first.form.dtype
    shape = fitting(subject, (SIZE,))
    drawn = np.random.default_rng(0)
    signs = drawn.choice((-1, 1), (2, *shape))
    param, *grads = signs[[0, *[1] * len(rates)]] * (1 + drawn.random((1 + len(rates), *shape)))
    return first.replace(
        learning_rates=rates,
        parameters=((sizes.reshape(shape) * param).astype(kind),),
        grads=tuple(((least * grad).astype(kind),) for grad in grads),
    )
