"""Finds what explains a target in parts: a mistake of the adapter or of the run, or two rules and what decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.first_mistake import first_mistake, is_refuted, short_run
from optimetry.conformance.judging.identifying.observed import Identity, Observed, no_more
from optimetry.conformance.judging.identifying.pairs import pairs
from optimetry.conformance.judging.identifying.several import gentle, several
from optimetry.conformance.judging.identifying.splitting import Splitting
from optimetry.conformance.laws import Law
from optimetry.conformance.laws.universal import parameters_are_independent, splitting
from optimetry.conformance.naming.candidates import arithmetics, tiers_of_mistakes, tiers_of_runs
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.elsewhere import FORMULAS_ELSEWHERE
from optimetry.conformance.naming.known.points import PointClass, counts_steps, documented_class, named_classes
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.naming.runs import decay, surviving
from optimetry.conformance.naming.solved import solved
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named

NEAR = 3
"""The rules beside which two things are looked for, each of hundreds: the documented one and the nearest."""

ALONE = parameters_are_independent, splitting
"""The laws that a target breaks which computes its rule as long as a parameter is alone."""


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
        rules = _beside_which(observed)
        return _of_the_run(observed, laws, broken, rules, only_further=True) or _outlived(observed, broken)
    if of_the_adapter := _of_the_adapter(observed, broken):
        return of_the_adapter
    rules, possible = _beside_which(observed), _possible(observed, laws)
    return (
        _of_the_run(observed, laws, broken, rules)
        or _outlived(observed, broken)
        or _split(observed, broken)
        or first_mistake(observed, _with_a_constant(observed, rules), broken)
        or first_mistake(observed, several(observed, rules, possible), broken)
        or first_mistake(observed, pairs(observed, rules[:NEAR], possible), broken)
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
    return first_mistake(observed, [places], None)


def _of_the_adapter(observed: Observed, broken: Law | None) -> tuple[Mistaken, Identity] | None:
    """Find the mistake of an adapter that explains every case: of the documented rule, or else of a named one.

    Where several rules explain them with the same mistake, it makes them one rule, and the first names it.
    """
    optimizer, dtype = observed.optimizer, observed.dtype
    first = tuple(observed.first_offered())
    return first_mistake(observed, tiers_of_mistakes(optimizer, dtype, first), broken) if first else None


def _beside_which(observed: Observed) -> list[PointClass]:
    """Return the rules beside which something is looked for: the documented one, the nearest, and every named dialect.

    The latter only where a case refutes the documented rule: else what is beside a dialect may make that rule of it. Of
    a target whose steps without a gradient count, the first of these count otherwise, too.
    """
    optimizer, probed = observed.optimizer, observed.probed
    documented = documented_class(optimizer)
    refuted = is_refuted(observed, Explanation(documented), no_more)
    first = [documented, *probed.nearest()]
    counting = first if probed.counts_otherwise and counts_steps(optimizer) else []
    counted = [rule.counting(step_count) for rule in counting for step_count in STEP_COUNTS]
    return list(dict.fromkeys([*first, *counted, *(named_classes(optimizer) if refuted else ())]))


def _possible(observed: Observed, laws: Sequence[Law]) -> Callable[[Mistake], bool]:
    """Return whether a target that breaks these laws may have a mistake at all."""
    off = {name for name, value in observed.limits.pinned if value == 0}
    return lambda mistake: mistake.is_shown(laws) and mistake.strength not in off


def _with_a_constant(observed: Observed, rules: Sequence[PointClass]) -> Iterator[list[Mistaken]]:
    """Yield each rule with a constant in place of a number, in tiers."""
    short, widest = short_run(observed), arithmetics(observed.optimizer, observed.dtype)[-1]
    return chain.from_iterable(solved(Explanation(rule, widest), *short) for rule in rules)


def _of_the_run(
    observed: Observed,
    laws: Sequence[Law],
    broken: Law | None,
    rules: Sequence[PointClass],
    *,
    only_further: bool = False,
) -> tuple[Mistaken, Identity] | None:
    """Find what the run does beside a rule that explains every case.

    Args:
        observed: the engine.
        laws: all laws that the target breaks.
        broken: a universal law that the target breaks.
        rules: beside which something is looked for.
        only_further: whether to try only what further cases show, made of those drawn.
    """
    alone = _of_one_alone(observed) if broken is None or broken.check in ALONE else []
    tiers = tiers_of_runs(observed.optimizer, observed.dtype, [*alone, *rules])
    possible = _possible(observed, laws)
    chosen = ([each for each in tier if possible(each.mistake)] for tier in tiers)
    return first_mistake(observed, (x for x in chosen if x and (x[0].mistake.shown_by or not only_further)), broken)


def _of_one_alone(observed: Observed) -> list[PointClass]:
    """Return the rules, also of other books, that explain what becomes of the first parameter of a case alone.

    Where none does, those that do so while its gradients are small, which no clip limits. None where the documented one
    does, beside which everything is tried anyway.
    """
    alone = [case.only([0]) for case in observed.first_offered()]
    for cases in (alone, map(gentle, alone)):
        offered = observed.offered(observed.limits.offered(case) for case in cases)
        explaining = _explaining(observed, [(case, observed.run_anew(case)) for case in offered])
        if explaining:
            return [] if explaining[0].documented else explaining
    return []


def _explaining(observed: Observed, runs: Sequence[tuple[Case, Array]]) -> list[PointClass]:
    """Return the rules, also of other books, that explain some runs; the documented one alone where it does."""
    optimizer, widest = observed.optimizer, arithmetics(observed.optimizer, observed.dtype)[-1]
    elsewhere = (formulas_of(optimizer, observed.pinned) for formulas_of in FORMULAS_ELSEWHERE)
    explaining = (
        rule
        for rule in chain([documented_class(optimizer)], observed.probed.classes(), *elsewhere)
        if all(explains(after, Explanation(rule, widest).expected(case), case.form) for case, after in runs)
    )
    first = next(explaining, None)
    return [] if first is None else [first] if first.documented else [first, *explaining]


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
