"""Finds the first mistake beside a rule that explains every case of an engine, and makes sure that it is meant.

It must be one alone, its rule must fail without it, and what loses digits must be seen to lose them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.observed import Identity, More, Observed, no_more
from optimetry.conformance.judging.identifying.saved_slots import saves_in
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.candidates import arithmetics
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.numerics.agreement import Agreement, compare, explained, explains, shares_of
from optimetry.conformance.numerics.arrays import Array, equal
from optimetry.conformance.oracle.expected import expected

LEAST_EXPLAINED = 0.5
"""The least part of all elements that a mistake must explain by a finite bound: a rule far outside its domain, which
overflows everywhere, excludes nothing."""

MUCH_WIDER, LEAST_BEYOND = 2.0**10, 0.1
"""What loses digits must be seen where its bounds are so many times those of its rule, in this part of the elements."""

FIRST = 2
"""The steps and the tensors of the short case that excludes most mistakes."""


def first_mistake(
    observed: Observed, tiers: Iterable[list[Mistaken]], broken: Law | None
) -> tuple[Mistaken, Identity] | None:
    """Find the first mistake that holds on every case; it must be one alone, and the rule without it must fail."""
    case, after = short_run(observed)
    for tier in tiers:
        possible = [mistaken for mistaken in tier if mistaken.mistake.may_break(broken)]
        near = [mistaken for mistaken in possible if tells(explained(after, mistaken.expected(case), case.form))]
        near = [mistaken for mistaken in near if observed.probed.explained_by(mistaken.expected)]
        more = near[0].mistake.shown_by or no_more if near else no_more
        near = _beside_refuted(observed, near, more)
        for arithmetic in arithmetics(observed.optimizer, observed.dtype) if near else ():
            standing = observed.not_refuted([mistaken.computed_in(arithmetic) for mistaken in near])
            alive, unexplained = observed.holding_on_all(standing, more, LEAST_EXPLAINED)
            near = [mistaken for mistaken in near if mistaken.computed_in(arithmetic) not in observed.silent]
            alive = [pair for pair in alive if changes(observed, pair[0], more)]
            sharpest = min(alive, key=lambda pair: pair[1].vacuous)[0] if alive else None
            if sharpest is not None and is_refuted(observed, Explanation(sharpest.rule, arithmetic), more):
                # A mistake with fewer finite bounds excludes less, and is no rival.
                least = min(agreement.vacuous for _, agreement in alive)
                rivals = [other for other, agreement in alive if agreement.vacuous == least]
                alone = all(_same(observed, sharpest, other, more) for other in rivals)
                return (sharpest, unexplained) if alone else None
    return None


def changes(observed: Observed, mistaken: Mistaken, more: More) -> bool:
    """Whether a mistake takes results beyond the bound of its rule: else its wider bounds are all that explains.

    That holds also for what limits a step that is limited already. One that only loses digits changes no value, and
    must be seen in what the target does.
    """
    if mistaken.mistake.loses_digits:
        seen = mistaken.mistake.seen(observed.run_anew, observed.first_offered())
        saves, name = mistaken.mistake.saves, mistaken.mistake.run["format"]
        return seen and (not saves or saves_in(observed, saves, name)) and _misses_digits(observed, mistaken)
    tried = _drawn_and_made(observed, more)
    pairs = ((case, mistaken.expected(case).value, mistaken.explanation.expected(case)) for case in tried)
    return any(not explains(value, rule, case.form) for case, value, rule in pairs)


def _misses_digits(observed: Observed, mistaken: Mistaken) -> bool:
    """Whether a target is beyond the bound of a rule where losing digits makes that much wider.

    A wide bound explains whatever is near, also another formula that differs from the rule in few elements alone. Of
    what does lose digits, more than half of these elements are beyond it.
    """
    wider = beyond = 0
    for case in observed.offered(observed.cases()):
        rule, wide = mistaken.explanation.expected(case), mistaken.expected(case)
        much = rule.known & wide.known & (wide.bound > MUCH_WIDER * rule.bound)
        wider += int(np.count_nonzero(much))
        beyond += int(np.count_nonzero(shares_of(observed.run_anew(case), rule)[much] > 1))
    return beyond >= LEAST_BEYOND * wider


def _same(observed: Observed, mistaken: Mistaken, other: Mistaken, more: More) -> bool:
    """Whether two mistakes are recorded alike, or give the same values on every case."""
    if mistaken.mistake.is_same(other.mistake):
        return True
    pairs = ((mistaken.expected(case).value, other.expected(case).value) for case in _drawn_and_made(observed, more))
    return all(bool(equal(a, b).all()) for a, b in pairs)


def _drawn_and_made(observed: Observed, more: More) -> Iterator[Case]:
    """Yield the drawn cases that the engine offers, each behind those made of it."""
    return chain.from_iterable(chain(more(case), [case]) for case in observed.offered(observed.cases()))


def short_run(observed: Observed) -> tuple[Case, Array]:
    """Return a small part of a probe, or else of the first case that tells, with the trajectory of the target."""
    if observed.probed.runs:
        return _first_steps(observed, observed.probed.cases[0][0])
    begun = map(partial(_first_steps, observed), sorted(observed.first_offered(), key=_idleness))
    first = next(begun)
    return next((x for x in chain([first], begun) if tells(compare(x[1], expected(x[0]), x[0].form))), first)


def _first_steps(observed: Observed, case: Case) -> tuple[Case, Array]:
    short = _shortened(case)
    return short, observed.run_anew(short)


def _beside_refuted(observed: Observed, mistakes: list[Mistaken], more: More) -> list[Mistaken]:
    """Return the mistakes beside a rule that fails in plain arithmetic: where that explains all, any wider one does."""
    rules = dict.fromkeys(Explanation(mistaken.rule) for mistaken in mistakes)
    refuted = {plain for plain in rules if is_refuted(observed, plain, more)}
    return [mistaken for mistaken in mistakes if Explanation(mistaken.rule) in refuted]


def is_refuted(observed: Observed, explanation: Explanation, more: More) -> bool:
    """Whether a rule fails on some case, or on ``more``, where a number in place of NaN or infinity is enough."""
    if not observed.not_refuted([explanation]) or not observed.holding_on_all([explanation], more)[0]:
        return True
    for case in observed.offered(chain.from_iterable(map(more, observed.cases()))):
        after = observed.run_anew(case)
        if np.isfinite(after)[~np.isfinite(explanation.expected(case).value)].any():
            return True
    return False


def _idleness(case: Case) -> float:
    """Return the part of the first gradients that are missing or 0, from which nothing can be told."""
    rows = _shortened(case).grads
    given = [np.mean(grad != 0) if grad is not None and grad.size else 0.0 for row in rows for grad in row]
    return 1.0 - float(np.mean(given)) if given else 1.0


@lru_cache(maxsize=256)
def _shortened(case: Case) -> Case:
    """Return the first steps of the first tensors of a case: one case, so that what mistakes give is evaluated once."""
    return case.only(range(min(len(case.parameters), FIRST))).upto(FIRST)


def tells(agreement: Agreement | None) -> bool:
    """Whether something explains a case with finite bounds on most of its elements, so that it might have failed."""
    return agreement is not None and agreement.vacuous <= (1 - LEAST_EXPLAINED) * agreement.elements
