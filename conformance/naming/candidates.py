"""Yields the explanations that are tried once the documented formula is rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.adapters import mistakes
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.increments import knows_increments
from optimetry.conformance.naming.known.points import (
    PointClass,
    counts_steps,
    documented_class,
    formula_of,
    named_classes,
)
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.naming.runs.decay import strengths
from optimetry.conformance.numerics.arithmetic import FLOAT32_NORM, PLAIN, Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE

FLUSHED = Arithmetic(flushes_subnormals=True)


def tiers(optimizer: str, dtype: str, probed: Probed) -> Iterator[list[Explanation]]:
    """Yield the candidates for one subject in tiers, the sharpest explanations first; the first that explains decides.

    Named dialects are tried before the unnamed classes of the family, of which the probes explain one at most. Moments
    formed as increments, and steps that are subtracted in parts, come before rounded numbers, whose bounds are wide
    enough to explain them, too. Only beside float64 parameters do float32 numbers differ from rounding: first rounded
    throughout, then rounded in some of their uses, then the norm that a clip divides by or the factor of a decay, then
    numbers in some uses of a dialect. Flushed subnormals are tried last.

    Other ways of counting steps are tried for a target whose steps without a gradient change those behind them.
    """
    rows = [row for row in _rows(optimizer, dtype, probed) if row.offered]
    for flushes in (False, True):
        for row in rows:
            if flushes in row.flushes:
                ways = [replace(way, flushes_subnormals=True) for way in row.ways] if flushes else row.ways
                yield [explanation for way in ways for explanation in _each(row.rules(), way)]


class _Row(NamedTuple):
    """Some rules, each computed in some ways: a tier without flushed subnormals, one with them, or both.

    Attributes:
        flushes: whether subnormals are flushed, in each of its tiers.
        rules: returns the rules, once a tier is reached: probes are costly.
        ways: how each rule is computed beside that.
        offered: whether there are such tiers at all.
    """

    flushes: tuple[bool, ...]
    rules: Callable[[], Sequence[PointClass]]
    ways: Sequence[Arithmetic]
    offered: bool = True


def _rows(optimizer: str, dtype: str, probed: Probed) -> list[_Row]:
    """Return the table of `tiers`: it is tried from top to bottom, first without flushed subnormals, then with them."""
    subject = subject_named(optimizer)
    numbers = subject.numbers if dtype == "float64" else ()
    partly = Arithmetic(float32_in_some_uses=numbers)
    narrow = bool(numbers)
    has_norm = narrow and hasattr(formula_of(optimizer), FLOAT32_NORM)
    has_decay = narrow and bool(strengths(subject))
    plain, flushed, both = (False,), (True,), (False, True)

    def documented() -> list[PointClass]:
        return [documented_class(optimizer)]

    def named() -> Sequence[PointClass]:
        return named_classes(optimizer)

    def with_increments(held: tuple[str, ...] = ()) -> list[PointClass]:
        return [*documented(), *named(), *probed.unnamed(held)] if knows_increments(optimizer) else []

    def with_step() -> list[PointClass]:
        return documented() if subject.has_learning_rate else []

    def counting(held: tuple[str, ...]) -> list[PointClass]:
        rules = [*documented(), *named(), *probed.unnamed(held)]
        return [rule.counting(step_count) for rule in rules for step_count in STEP_COUNTS]

    counts = probed.counts_otherwise and counts_steps(optimizer)
    rows_of_counts = [
        _Row(plain, partial(counting, way.float32_in_some_uses), [way])  # flushed ones are among these ways
        for way in (ways_of(optimizer, numbers) if counts else [])
    ]
    return [
        _Row(flushed, documented, [PLAIN]),  # without them it is rejected
        _Row(both, named, [PLAIN]),
        _Row(both, probed.unnamed, [PLAIN]),
        *rows_of_counts,
        _Row(both, with_increments, [Arithmetic(incremental_moments=True)]),
        _Row(both, with_step, [Arithmetic(step_in_parts=True)]),
        _Row(both, documented, [Arithmetic(float32=chosen) for chosen in sets_of_numbers(numbers)], narrow),
        _Row(both, documented, [partly], narrow),
        _Row(plain, documented, [Arithmetic(float32_norm=True)], has_norm),
        _Row(plain, documented, [replace(partly, float32_norm=True)], has_norm),
        _Row(plain, documented, [Arithmetic(float32_decay=True)], has_decay),
        _Row(both, named, [partly], narrow),
        _Row(plain, partial(probed.unnamed, numbers), [partly], narrow),
        _Row(flushed, partial(with_increments, numbers), [replace(partly, incremental_moments=True)], narrow),
    ]


def tiers_combined(optimizer: str, dtype: str) -> Iterator[list[Explanation]]:
    """Yield the candidates whose numbers are combined in float32 beside float64 parameters; none beside others.

    Their bounds also contain the results of a state held in float32 and of other mistakes of a run, so they are tried
    after these.
    """
    numbers = subject_named(optimizer).numbers if dtype == "float64" else ()
    documented = documented_class(optimizer)
    for flushes in (False, True) if numbers else ():
        partly = Arithmetic(flushes_subnormals=flushes, float32_in_some_uses=numbers)
        combined = replace(partly, combined=True)
        yield [Explanation(documented, combined)]
        if hasattr(formula_of(optimizer), FLOAT32_NORM):
            yield [Explanation(documented, replace(combined, float32_norm=True))]
        if strengths(subject_named(optimizer)):
            yield [Explanation(documented, replace(partly, float32_decay=True))]
        yield _each(named_classes(optimizer), combined)
        if knows_increments(optimizer):
            yield [Explanation(documented, replace(combined, incremental_moments=True))]


def tiers_computed_in(optimizer: str, narrower: str, counts: bool = False) -> Iterator[list[Explanation]]:
    """Yield the candidates that compute everything in a format narrower than the arrays', named by its dtype.

    Args:
        optimizer: the subject's name.
        narrower: the format's.
        counts: whether to try other counts of the steps as well, which a target must show.
    """
    yield from _in_every_way(optimizer, computed_in=narrower)
    known = (documented_class(optimizer), *named_classes(optimizer)) if counts and counts_steps(optimizer) else ()
    counting = [rule.counting(step_count) for rule in known for step_count in STEP_COUNTS]
    yield from (_each(counting, replace(way, computed_in=narrower)) for way in ways_of(optimizer) if counting)


def tiers_of_steps(optimizer: str, narrower: str) -> Iterator[list[Explanation]]:
    """Yield the candidates that compute all but the parameters in a format narrower than theirs, named by its dtype."""
    return _in_every_way(optimizer, computed_in=narrower, parameters_apart=True)


def _in_every_way(optimizer: str, **changes: Any) -> Iterator[list[Explanation]]:
    """Yield the documented rule, then the named ones, in each of `ways_of` with the same changes."""
    for arithmetic in ways_of(optimizer):
        for rules in ([documented_class(optimizer)], named_classes(optimizer)):
            yield _each(rules, replace(arithmetic, **changes))


def tiers_of_mistakes(optimizer: str, dtype: str, cases: tuple[Case, ...]) -> Iterator[list[Mistaken]]:
    """Yield the mistakes of adapters in tiers, the simplest first, each computed in the least precise of `arithmetics`.

    Args:
        optimizer: the subject's name.
        dtype: the dtype's name.
        cases: the first cases that the target was given, at least one.
    """
    widest, documented = arithmetics(optimizer, dtype)[-1], [documented_class(optimizer)]
    usual, together = mistakes(subject_named(optimizer), cases)
    for rules, tier in ((documented, usual), (documented, together), (named_classes(optimizer), usual)):
        yield [Mistaken(explanation, mistake) for explanation in _each(rules, widest) for mistake in tier]


def tiers_of_runs(optimizer: str, dtype: str, others: Sequence[PointClass]) -> Iterator[list[Mistaken]]:
    """Yield what runs may do beside the documented rule, then beside others, as `tiers_of_mistakes`."""
    widest = arithmetics(optimizer, dtype)[-1]
    for rule in dict.fromkeys([documented_class(optimizer), *others]):
        for tier in runs_beside(rule, optimizer, dtype):
            yield [Mistaken(Explanation(rule, widest), mistake) for mistake in tier]


def runs_beside(rule: PointClass, optimizer: str, dtype: str) -> Iterator[list[Mistake]]:
    """Yield what runs may do beside one rule, in tiers.

    Another rule, or a dialect of one, has a state and hyperparameters of its own. Beside it nothing is tried but that
    parameters, or parts of one, depend on each other.
    """
    for tier in mistakes_of_runs(subject_named(rule.computed), dtype):
        yield [mistake for mistake in tier if rule.computed == optimizer or mistake.joins]


def arithmetics(optimizer: str, dtype: str) -> list[Arithmetic]:
    """Return the ways in which a rule with a mistake may be computed, the sharpest first; the last contains all."""
    numbers = subject_named(optimizer).numbers if dtype == "float64" else ()
    return [PLAIN, FLUSHED, *[Arithmetic(flushes_subnormals=True, float32_in_some_uses=numbers)] * bool(numbers)]


def _each(rules: Iterable[PointClass], arithmetic: Arithmetic = PLAIN) -> list[Explanation]:
    return [Explanation(rule, arithmetic) for rule in rules]


def ways_of(optimizer: str, numbers: tuple[str, ...] = ()) -> list[Arithmetic]:
    """Return the ways in which a rule may be computed beside what is asked of it, the sharpest first."""
    ways = [PLAIN, FLUSHED]
    if knows_increments(optimizer):
        ways = [way for plain in ways for way in (plain, replace(plain, incremental_moments=True))]
    return [*ways, *(replace(way, float32_in_some_uses=numbers) for way in ways if numbers)]


def sets_of_numbers(numbers: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sets of numbers that frameworks round together: one alone, all but the learning rate, all."""
    real = tuple(name for name in numbers if name != LEARNING_RATE)
    together = [real, tuple(numbers)]
    return list(dict.fromkeys([*((name,) for name in numbers), *(chosen for chosen in together if len(chosen) > 1)]))
