"""Finds what explains a target in parts: a mistake of the adapter or of the run, or two rules and what decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.observed import Identity, More, Observed, no_more
from optimetry.conformance.judging.identifying.saved_slots import saves_in
from optimetry.conformance.judging.identifying.splitting import Splitting
from optimetry.conformance.laws import Law
from optimetry.conformance.laws.universal import parameters_are_independent, splitting
from optimetry.conformance.naming.candidates import arithmetics, tiers_of_mistakes, tiers_of_runs
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.elsewhere import FORMULAS_ELSEWHERE
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import decay, surviving
from optimetry.conformance.naming.solved import solved
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.numerics.agreement import Agreement, compare, explained, explains, shares_of
from optimetry.conformance.numerics.arrays import Array, equal
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named

LEAST_EXPLAINED = 0.5
"""The least part of all elements that a mistake must explain by a finite bound: a rule far outside its domain, which
overflows everywhere, excludes nothing."""

MUCH_WIDER, LEAST_BEYOND = 2.0**10, 0.1
"""What loses digits must be seen where its bounds are so many times those of its rule, in this part of the elements."""

ALONE = parameters_are_independent, splitting
"""The laws that a target breaks which computes its rule as long as a parameter is alone."""

FIRST = 2
"""The steps and the tensors of the short case that excludes most mistakes."""


def in_parts(
    observed: Observed, laws: Sequence[Law], *, refuted: bool = True
) -> tuple[Mistaken | Split, Identity] | None:
    """Find what explains every case in parts: a mistake of the adapter or of the run, or two rules and what decides.

    Args:
        observed: one engine, which no candidate explains.
        laws: those that it breaks. Where one is universal, it computes no formula, unless a mistake breaks the law.
        refuted: whether a case refutes the documented rule; else a law alone does, and further cases may.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    broken = next((law for law in laws if law.universal), None)
    if not refuted:
        return _of_the_run(observed, laws, broken, only_further=True) or _outlived(observed, broken)
    return (
        _of_the_adapter(observed, broken)
        or _of_the_run(observed, laws, broken)
        or _outlived(observed, broken)
        or _split(observed, broken)
        or _with_a_constant(observed, broken)
    )


def split_found(observed: Observed) -> tuple[Split, Identity] | None:
    """Find a property that decides between a known rule and one that is an edit away from it.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    optimizer = observed.optimizer
    known = [Explanation(rule) for rule in (documented_class(optimizer), *named_classes(optimizer))]
    return _first_split(observed, Splitting(observed).edited_splits(list(properties(subject_named(optimizer))), known))


def decay_found(observed: Observed) -> tuple[Mistaken, Identity] | None:
    """Find another place of the decay of the documented rule that explains every case.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    optimizer, dtype = observed.optimizer, observed.dtype
    widest = Explanation(documented_class(optimizer), arithmetics(optimizer, dtype)[-1])
    places = [Mistaken(widest, place) for place in decay.placed_otherwise(subject_named(optimizer))]
    return _first_of(observed, [places], None)


def _of_the_adapter(observed: Observed, broken: Law | None) -> tuple[Mistaken, Identity] | None:
    """Find the mistake of an adapter that explains every case: of the documented rule, or else of a named one.

    Where several rules explain them with the same mistake, it makes them one rule, and the first names it.
    """
    optimizer, dtype = observed.optimizer, observed.dtype
    first = tuple(observed.first_offered())
    return _first_of(observed, tiers_of_mistakes(optimizer, dtype, first), broken) if first else None


def _with_a_constant(observed: Observed, broken: Law | None) -> tuple[Mistaken, Identity] | None:
    """Find the constant that explains every case in place of a number, of the documented rule or another."""
    beginning, widest = _beginning(observed), arithmetics(observed.optimizer, observed.dtype)[-1]
    rules = dict.fromkeys([documented_class(observed.optimizer), *_beside_which(observed)])
    tiers = chain.from_iterable(solved(Explanation(rule, widest), *beginning) for rule in rules)
    return _first_of(observed, tiers, broken)


def _beside_which(observed: Observed) -> list[PointClass]:
    """Return the rules beside which something is looked for: the nearest, then every dialect that has a name.

    The latter only where a case refutes the documented rule: else what is beside a dialect may make that rule of it.
    """
    documented = Explanation(documented_class(observed.optimizer))
    named = named_classes(observed.optimizer) if _refuted(observed, documented, no_more) else ()
    return [*observed.probed.nearest(), *named]


def _of_the_run(
    observed: Observed, laws: Sequence[Law], broken: Law | None, *, only_further: bool = False
) -> tuple[Mistaken, Identity] | None:
    """Find what the run does beside the documented rule, or beside a near one, that explains every case.

    Args:
        observed: the engine.
        laws: all laws that the target breaks.
        broken: a universal law that the target breaks.
        only_further: whether to try only what further cases show, made of those drawn.
    """
    alone = _of_one_alone(observed) if broken is None or broken.check in ALONE else []
    tiers = tiers_of_runs(observed.optimizer, observed.dtype, [*alone, *_beside_which(observed)])
    off = {name for name, value in observed.limits.pinned if value == 0}
    chosen = (
        [each for each in tier if each.mistake.is_shown(laws) and each.mistake.strength not in off] for tier in tiers
    )
    return _first_of(observed, (x for x in chosen if x and (x[0].mistake.shown_by or not only_further)), broken)


def _of_one_alone(observed: Observed) -> list[PointClass]:
    """Return the rules, also of other books, that explain what becomes of the first parameter of a case alone.

    None where the documented one does, beside which everything is tried anyway.
    """
    optimizer, pinned = observed.optimizer, observed.pinned
    widest = arithmetics(optimizer, observed.dtype)[-1]
    runs = [(case, observed.run_anew(case)) for case in (case.only([0]) for case in observed.first_offered())]
    elsewhere = (formulas_of(optimizer, pinned) for formulas_of in FORMULAS_ELSEWHERE)
    alone = (
        rule
        for rule in chain([documented_class(optimizer)], observed.probed.classes(), *elsewhere)
        if all(explains(after, Explanation(rule, widest).expected(case), case.form) for case, after in runs)
    )
    first = next(alone, None)
    return [] if first is None or first.documented else [first, *alone]


def _outlived(observed: Observed, broken: Law | None) -> tuple[Mistaken, Identity] | None:
    """Find whether state outlives its run, in cases that are run twice; the documented rule explains the first."""
    documented = Explanation(documented_class(observed.optimizer))
    alive = [Mistaken(documented, mistake) for mistake in surviving.mistakes() if broken and mistake.may_break(broken)]
    refuted = False
    for case in observed.offered(surviving.of_fresh_sizes(observed.cases())) if alive else ():
        first, second = (observed.run_anew(case) for _ in range(2))
        if not explains(first, documented.expected(case), case.form):
            return None
        alive = [mistaken for mistaken in alive if explains(second, mistaken.expected(case), case.form)]
        refuted = refuted or not explains(second, documented.expected(case), case.form)
    return (alive[0], Identity(None)) if alive and refuted else None


def _first_of(
    observed: Observed, tiers: Iterable[list[Mistaken]], broken: Law | None
) -> tuple[Mistaken, Identity] | None:
    """Find the first mistake that holds on every case; it must be one alone, and the rule without it must fail."""
    case, after = _beginning(observed)
    for tier in tiers:
        possible = [mistaken for mistaken in tier if mistaken.mistake.may_break(broken)]
        near = [mistaken for mistaken in possible if _tells(explained(after, mistaken.expected(case), case.form))]
        near = [mistaken for mistaken in near if observed.probed.explained_by(mistaken.expected)]
        more = near[0].mistake.shown_by or no_more if near else no_more
        near = _beside_refuted(observed, near, more)
        for arithmetic in arithmetics(observed.optimizer, observed.dtype) if near else ():
            standing = observed.not_refuted([mistaken.computed_in(arithmetic) for mistaken in near])
            alive, unexplained = observed.holding_on_all(standing, more, LEAST_EXPLAINED)
            near = [mistaken for mistaken in near if mistaken.computed_in(arithmetic) not in observed.silent]
            alive = [pair for pair in alive if _changes(observed, pair[0], more)]
            sharpest = min(alive, key=lambda pair: pair[1].vacuous)[0] if alive else None
            if sharpest is not None and _refuted(observed, Explanation(sharpest.rule, arithmetic), more):
                # A mistake with fewer finite bounds excludes less, and is no rival.
                least = min(agreement.vacuous for _, agreement in alive)
                rivals = [other for other, agreement in alive if agreement.vacuous == least]
                alone = all(_same(observed, sharpest, other, more) for other in rivals)
                return (sharpest, unexplained) if alone else None
    return None


def _changes(observed: Observed, mistaken: Mistaken, more: More) -> bool:
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


def _beginning(observed: Observed) -> tuple[Case, Array]:
    """Return a small part of a probe, or else of the first case that tells, with the trajectory of the target."""
    if observed.probed.runs:
        return _first_steps(observed, observed.probed.cases[0][0])
    begun = map(partial(_first_steps, observed), sorted(observed.first_offered(), key=_idleness))
    first = next(begun)
    return next((x for x in chain([first], begun) if _tells(compare(x[1], expected(x[0]), x[0].form))), first)


def _first_steps(observed: Observed, case: Case) -> tuple[Case, Array]:
    short = _shortened(case)
    return short, observed.run_anew(short)


def _beside_refuted(observed: Observed, mistakes: list[Mistaken], more: More) -> list[Mistaken]:
    """Return the mistakes beside a rule that fails in plain arithmetic: where that explains all, any wider one does."""
    documented = {Explanation(mistaken.rule): None for mistaken in mistakes}
    refuted = {plain for plain in documented if _refuted(observed, plain, more)}
    return [mistaken for mistaken in mistakes if Explanation(mistaken.rule) in refuted]


def _refuted(observed: Observed, explanation: Explanation, more: More) -> bool:
    """Whether a rule fails on some case, or on ``more``, where a number in place of NaN or infinity is enough."""
    if not observed.not_refuted([explanation]) or not observed.holding_on_all([explanation], more)[0]:
        return True
    for case in observed.offered(chain.from_iterable(map(more, observed.cases()))):
        after = observed.run_anew(case)
        if np.isfinite(after)[~np.isfinite(explanation.expected(case).value)].any():
            return True
    return False


def _split(observed: Observed, broken: Law | None) -> tuple[Split, Identity] | None:
    """Find the simplest property that decides between two explanations, which hold on every case together."""
    optimizer, dtype = observed.optimizer, observed.dtype
    chosen = [by for by in properties(subject_named(optimizer)) if by.may_break(broken)]
    splitting = Splitting(observed)
    ways = arithmetics(optimizer, dtype) if chosen else ()
    return _first_split(observed, (split for arithmetic in ways for split in splitting.splits(arithmetic, chosen)))


def _first_split(observed: Observed, splits: Iterable[Split]) -> tuple[Split, Identity] | None:
    """Find the first split that holds on every case."""
    for split in splits:
        alive, unexplained = observed.holding_on_all([split])
        if alive:
            return split, unexplained
    return None


def _idleness(case: Case) -> float:
    """Return the part of the first gradients that are missing or 0, from which nothing can be told."""
    rows = _shortened(case).grads
    given = [np.mean(grad != 0) if grad is not None and grad.size else 0.0 for row in rows for grad in row]
    return 1.0 - float(np.mean(given)) if given else 1.0


@lru_cache(maxsize=256)
def _shortened(case: Case) -> Case:
    """Return the first steps of the first tensors of a case: one case, so that what mistakes give is evaluated once."""
    return case.only(range(min(len(case.parameters), FIRST))).upto(FIRST)


def _tells(agreement: Agreement | None) -> bool:
    """Whether something explains a case with finite bounds on most of its elements, so that it might have failed."""
    return agreement is not None and agreement.vacuous <= (1 - LEAST_EXPLAINED) * agreement.elements
