"""Identifies what a rejected engine computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.narrowed import narrowed
from optimetry.conformance.judging.observed import Identity, Observed
from optimetry.conformance.naming.candidates import FLUSHED, tiers, tiers_combined, tiers_computed_in
from optimetry.conformance.naming.elsewhere import dialects_elsewhere, rules_elsewhere, without_epsilon
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.increments import knows_increments
from optimetry.conformance.naming.points import PointClass, counts_steps
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import FORMATS, narrowest
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE

ENOUGH = 4
"""The least cases that name a rule of another book: the probes tell apart the rules of one alone."""

WAYS_ELSEWHERE = FLUSHED, dataclasses.replace(FLUSHED, incremental_moments=True)
"""How rules of other books may be computed, the sharpest first; what else there may be is added to these."""


def identify(observed: Observed) -> Identity:
    """Try candidates tier by tier; the first tier in which one holds decides, and it must be the only one.

    Where the target does not offer all hyperparameters, rules that differ in general may coincide: the one that differs
    from the document in the fewest choices stands for them. Rules of other books that hold as well are named beside it,
    and in its place where no rule of the subject's own book holds.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    optimizer, dtype = observed.optimizer, observed.dtype
    identity = _first_holding(observed, tiers(optimizer, dtype, observed.probed))
    if identity.explanation or identity.several:
        return identity
    ways = list(WAYS_ELSEWHERE)
    if dtype == "float64":
        ways.append(dataclasses.replace(FLUSHED, float32_in_some_uses=subject_named(optimizer).numbers))
    found = _found_elsewhere(observed, ways)
    if found is None:
        return identity
    if found.explanation and found.explanation.arithmetic.float32_in_some_uses:
        combined = identify_combined(observed)
        if combined.explanation and combined.explanation.rule.documented:
            return combined  # two texts of one formula combine other numbers
    return found


def identify_combined(observed: Observed) -> Identity:
    """Try candidates whose numbers are combined in float32 beside float64 parameters, as `identify` tries others.

    Several are, or a learning rate with the number of the step.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    identity = _first_holding(observed, tiers_combined(observed.optimizer, observed.dtype))
    arithmetic = identity.explanation.arithmetic if identity.explanation else PLAIN
    numbers = arithmetic.float32 + arithmetic.float32_in_some_uses
    able = len(numbers) > 1 or numbers == (LEARNING_RATE,)
    return identity if able else dataclasses.replace(identity, explanation=None)


def identify_computed_in(observed: Observed, rejected: tuple[Case, Array]) -> Identity:
    """Try candidates that compute everything in a narrower format, which must hold all numbers that a target makes.

    Args:
        observed: the engine.
        rejected: the case that rejected it, and what it returned there, shape (steps, elements).

    Raises:
        TargetFault: the target breaks the protocol.
    """
    narrower = narrower_than(observed.probed, rejected)
    if narrower is None:
        return Identity(None)
    found = _first_holding(observed, tiers_computed_in(observed.optimizer, narrower))
    if not found.explanation and not found.several:
        ways = [dataclasses.replace(way, computed_in=narrower) for way in WAYS_ELSEWHERE]
        found = _found_elsewhere(observed, ways) or found
    return found if fits(observed, narrower) else Identity(None)


def narrower_than(probed: Probed, rejected: tuple[Case, Array]) -> str | None:
    """Return the narrowest format of what a target made in the probes and in a case, None where it is its own."""
    return narrowest(np.concatenate([_made(*run) for run in (rejected, *probed.cases)]))


def fits(observed: Observed, narrower: str) -> bool:
    """Whether a format holds all numbers that a target made in the cases tried so far."""
    return all(FORMATS[narrower].holds(_made(*run)) for run in observed.runs.items())


def _made(case: Case, after: Array) -> Array:
    """Return the numbers that a target returned in a case, but for those that it was fed."""
    fed = flat([*case.parameters, *(grad for grads in case.grads for grad in grads if grad is not None)])
    return after[~np.isin(after, fed)]


def _first_holding(observed: Observed, tiers: Iterable[list[Explanation]]) -> Identity:
    """Return the explanation of the first tier that has one; none where a tier has several, or no tier has any."""
    longest = Identity(None)
    for tier in tiers:
        alive, unexplained = observed.surviving(tier)
        if unexplained.tried > longest.tried:
            longest = unexplained
        alive = _with_fewest_numbers(alive)
        if len(alive) > 1 and not observed.restricted:
            return dataclasses.replace(longest, several=_names(alive))
        if alive:
            found, *others = sorted(alive, key=_choices)
            alike = (other.explanation.rule.name for other in others if other.explanation)
            identity = narrowed(observed, found)
            elsewhere = _same_elsewhere(observed, identity.explanation)
            if elsewhere and identity.explanation and not identity.explanation.rule.declared:
                identity = narrowed(
                    observed, elsewhere[0]
                )  # what is computed somewhere, before what nobody is known to
            return dataclasses.replace(identity, alike=tuple(dict.fromkeys(alike)), elsewhere=_names(elsewhere))
    return longest


def _found_elsewhere(observed: Observed, ways: Sequence[Arithmetic]) -> Identity | None:
    """Return what names a target by rules of other books, or else their dialects; asked where its own book does not.

    Bounds that allow for flushed subnormals contain those that do not, so what holds is found by the wider ones.

    Args:
        observed: the engine.
        ways: the ways in which these rules may be computed, flushing subnormals, the sharpest first.
    """
    for rules in _tiers_elsewhere(observed.probed, observed.pinned):
        for widest in ways:
            alive = _elsewhere(observed, rules, widest)
            found = [one.explanation.rule for one in alive if one.explanation]
            if alive:
                alive = _elsewhere(observed, found, dataclasses.replace(widest, flushes_subnormals=False)) or alive
                alive = [one for one in alive if one.tried >= ENOUGH]
                return dataclasses.replace(narrowed(observed, alive[0]), elsewhere=_names(alive)) if alive else None
    return None


def _tiers_elsewhere(probed: Probed, pinned: frozenset[str]) -> Iterator[Sequence[PointClass]]:
    """Yield the formulas of other books, the simplest first; what else t may count only for a target that shows it."""
    for found in (rules_elsewhere, dialects_elsewhere, without_epsilon):
        rules = found(probed.optimizer, pinned)
        yield rules
        if probed.counts_otherwise:
            counting = [one for one in rules if one.dialect and counts_steps(one.dialect.optimizer)]
            yield [one.counting(way) for one in counting for way in STEP_COUNTS]


def _same_elsewhere(observed: Observed, explanation: Explanation | None) -> list[Identity]:
    """Return the rules of other books that hold with the same arithmetic; none beside the documented rule."""
    if explanation is None or explanation.rule.documented:
        return []
    return _elsewhere(observed, rules_elsewhere(observed.optimizer, observed.pinned), explanation.arithmetic)


def _elsewhere(observed: Observed, rules: Sequence[PointClass], arithmetic: Arithmetic) -> list[Identity]:
    """Return the rules that hold, computed with this arithmetic; those that cannot be are left out."""
    able = [rule for rule in rules if rule.dialect and knows_increments(rule.dialect.optimizer)]
    chosen = able if arithmetic.incremental_moments else rules
    return observed.surviving([Explanation(rule, arithmetic) for rule in chosen])[0]


def _names(alive: Sequence[Identity]) -> tuple[str, ...]:
    return tuple(one.explanation.rule.name for one in alive if one.explanation)


def _with_fewest_numbers(alive: Sequence[Identity]) -> list[Identity]:
    """Leave out explanations with more numbers in float32 than another one that explains as much."""
    known = [one.explanation for one in alive if one.explanation is not None]
    return [one for one in alive if one.explanation and not any(map(one.explanation.holds_more_than, known))]


def _choices(identity: Identity) -> int:
    """Return in how many choices a rule differs from the document."""
    return len(identity.explanation.rule.point) if identity.explanation else 0
