"""Yields rules with two things beside them, of which one alone shows in a short run.

A clip does not act on small gradients, and what happens every few steps not in the first: what is left explains such a
run by itself. Whatever else there may be is tried beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.judging.identifying.first_mistake import tells
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.several import keeping_digits, with_defaults
from optimetry.conformance.naming.candidates import arithmetics
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.naming.mistakes import Mistake, Mistaken, together
from optimetry.conformance.naming.runs.decay import strengths
from optimetry.conformance.numerics.agreement import explained
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.errors import TargetFault

SHAPES = (4, 3), (5,)
"""The shapes of the parameters of the run, of which one has rows and columns."""

SMALL = 2.0**-14
"""The least magnitude of its gradients, whose largest is twice that: no usual clip limits all of them together."""

DECAY = 2.0**-10
"""Its weight decay where the default is 0, so that one shows; what it adds to a gradient is not limited either."""

RATES = tuple(2.0 ** -(6 + t % 3) for t in range(12))
"""Its learning rates, which change."""

PREFIXES = len(RATES), 3, 1
"""How many of its steps are a run of their own: what happens every few steps does not show in the first ones."""

MOST = 8
"""How many things may explain a run that tells something; a first step that is left out is explained by most."""


def pairs(
    observed: Observed, rules: Iterable[PointClass], possible: Callable[[Mistake], bool]
) -> Iterator[list[Mistaken]]:
    """Yield rules with two things beside them, in tiers.

    Args:
        observed: the engine.
        rules: beside which something is looked for.
        possible: whether it may be there, by the laws that the engine breaks.
    """
    optimizer, dtype = observed.optimizer, observed.dtype
    runs = list(_runs(observed))
    for rule in rules if runs else ():
        explanation = Explanation(rule, arithmetics(optimizer, dtype)[-1])
        beside = keeping_digits(rule, optimizer, dtype, possible)
        tried: set[Mistake] = set()  # what explains a run also explains its first steps
        for case, after in runs:
            shown = list(islice(_shown(explanation, chain.from_iterable(beside), case, after), MOST + 1))
            for one in shown if len(shown) <= MOST else ():
                for tier in beside if one not in tried else ():
                    yield [Mistaken(explanation, together([one, x])) for x in tier]
                    if others := [x for x in tier if not one.commutes(x)]:
                        yield [Mistaken(explanation, together([x, one])) for x in others]
                tried.add(one)


def _runs(observed: Observed) -> Iterator[tuple[Case, Array]]:
    """Yield a run of small gradients, and its first steps, each with the trajectory of the target."""
    usual = with_defaults(observed)
    if usual is None:
        return
    case = observed.limits.offered(_small(usual))
    if not observed.offers(case):
        return
    try:
        after = observed.run_anew(case)
    except TargetFault:  # of such a run, which is no case
        return
    for steps in PREFIXES:
        yield case.upto(steps), after[:steps]


def _shown(explanation: Explanation, mistakes: Iterable[Mistake], case: Case, after: Array) -> Iterator[Mistake]:
    """Yield what explains a run beside a rule that does not explain it; where it does, nothing shows."""
    if tells(explained(after, explanation.expected(case), case.form)):
        return
    for mistake in mistakes:
        if tells(explained(after, Mistaken(explanation, mistake).expected(case), case.form)):
            yield mistake


def _small(usual: Case) -> Case:
    """Return a run of two parameters of ordinary size with small gradients, from a case with its hyperparameters."""
    subject, kind = subject_named(usual.optimizer), usual.form.dtype
    drawn = np.random.default_rng(0)

    def arrays(least: float) -> tuple[Array, ...]:
        shapes = (fitting(subject, shape) for shape in SHAPES)
        return tuple((least * drawn.choice((-1, 1), x) * (1 + drawn.random(x))).astype(kind) for x in shapes)

    decays = {name: DECAY for name in strengths(subject) if not usual.hyper[name]}
    fed = {"parameters": arrays(1.0), "grads": tuple(arrays(SMALL) for _ in RATES)}
    return usual.replace(learning_rates=RATES, hyper={**usual.hyper, **decays}, **fed)
