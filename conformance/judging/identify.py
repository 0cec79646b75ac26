"""Identifies what a rejected target computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.holding import Holding, Identity
from optimetry.conformance.judging.narrowed import narrowed
from optimetry.conformance.naming.candidates import FLUSHED, tiers, tiers_combined
from optimetry.conformance.naming.elsewhere import dialects_elsewhere, rules_elsewhere
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.arithmetic import INCREMENTAL, PLAIN, Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard

ENOUGH = 4
"""The least cases that name a rule of another book: the probes tell apart the rules of one alone."""


def identify(target: Target, optimizer: str, dtype: str, cases: Callable[[], Iterator[Case]], guard: Guard) -> Identity:
    """Try candidates tier by tier; the first tier in which one holds decides, and it must be the only one.

    Where the target does not offer all hyperparameters, rules that differ in general may coincide: the one that differs
    from the document in the fewest choices stands for them. Rules of other books that hold as well are named beside it,
    and in its place where no rule of the subject's own book holds.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    held = Holding(target, cases, guard, Probed.of(target, optimizer, dtype, guard))
    identity = _first_holding(held, tiers(optimizer, dtype, held.probed))
    if identity.explanation or identity.several:
        return identity
    alive = [one for one in _found_elsewhere(held) if one.tried >= ENOUGH]
    if not alive:
        return identity
    found = dataclasses.replace(narrowed(held, alive[0]), elsewhere=_names(alive))
    if found.explanation and found.explanation.arithmetic.float32_in_some_uses:
        combined = _combined(held)
        if combined.explanation and combined.explanation.rule.documented:
            return combined  # two texts of one formula combine other numbers
    return found


def identify_combined(target: Target, probed: Probed, cases: Callable[[], Iterator[Case]], guard: Guard) -> Identity:
    """Try candidates whose numbers are combined in float32 beside float64 parameters, as `identify` tries others.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    return _combined(Holding(target, cases, guard, probed))


def _combined(held: Holding) -> Identity:
    """Return what holds with numbers combined in float32; a number alone is combined with nothing."""
    identity = _first_holding(held, tiers_combined(held.probed.optimizer, held.probed.dtype))
    arithmetic = identity.explanation.arithmetic if identity.explanation else PLAIN
    several = len(arithmetic.float32 + arithmetic.float32_in_some_uses) > 1
    return identity if several else dataclasses.replace(identity, explanation=None)


def _first_holding(held: Holding, tiers: Iterable[list[Explanation]]) -> Identity:
    """Return the explanation of the first tier that has one; none where a tier has several, or no tier has any."""
    longest = Identity(None, probed=held.probed)
    for tier in tiers:
        alive, unexplained = held.surviving(tier)
        if unexplained.tried > longest.tried:
            longest = dataclasses.replace(unexplained, probed=held.probed)
        alive = _with_fewest_numbers(alive)
        if len(alive) > 1 and not held.restricted:
            return dataclasses.replace(longest, several=_names(alive))
        if alive:
            found, *others = sorted(alive, key=_choices)
            alike = (other.explanation.rule.name for other in others if other.explanation)
            identity = narrowed(held, found)
            elsewhere = _names(_same_elsewhere(held, identity.explanation))
            return dataclasses.replace(identity, alike=tuple(dict.fromkeys(alike)), elsewhere=elsewhere)
    return longest


def _found_elsewhere(held: Holding) -> list[Identity]:
    """Return the rules of other books that explain a target, or else their dialects; asked where its own book does not.

    Bounds that allow for flushed subnormals contain those that do not, so what holds is found by the wider ones.
    Numbers that are held in float32 beside float64 parameters are allowed for last.
    """
    asked = held.probed.optimizer, held.pinned
    ways = [FLUSHED, dataclasses.replace(FLUSHED, incremental_moments=True)]
    if held.probed.dtype == "float64":
        numbers = subject_named(held.probed.optimizer).numbers
        ways.append(dataclasses.replace(FLUSHED, float32_in_some_uses=numbers))
    for rules in (rules_elsewhere(*asked), dialects_elsewhere(*asked)):
        for widest in ways:
            alive = _elsewhere(held, rules, widest)
            found = [one.explanation.rule for one in alive if one.explanation]
            if alive:
                return _elsewhere(held, found, dataclasses.replace(widest, flushes_subnormals=False)) or alive
    return []


def _same_elsewhere(held: Holding, explanation: Explanation | None) -> list[Identity]:
    """Return the rules of other books that hold with the same arithmetic; none beside the documented rule."""
    if explanation is None or explanation.rule.documented:
        return []
    return _elsewhere(held, rules_elsewhere(held.probed.optimizer, held.pinned), explanation.arithmetic)


def _elsewhere(held: Holding, rules: Sequence[PointClass], arithmetic: Arithmetic) -> list[Identity]:
    """Return the rules that hold, computed with this arithmetic; those that cannot be are left out."""
    able = [rule for rule in rules if rule.dialect and hasattr(rule.dialect.family, INCREMENTAL)]
    chosen = able if arithmetic.incremental_moments else rules
    return held.surviving([Explanation(rule, arithmetic) for rule in chosen])[0]


def _names(alive: Sequence[Identity]) -> tuple[str, ...]:
    return tuple(one.explanation.rule.name for one in alive if one.explanation)


def _with_fewest_numbers(alive: Sequence[Identity]) -> list[Identity]:
    """Leave out explanations with more numbers in float32 than another one that explains as much."""
    known = [one.explanation for one in alive if one.explanation is not None]
    return [one for one in alive if one.explanation and not any(map(one.explanation.holds_more_than, known))]


def _choices(identity: Identity) -> int:
    """Return in how many choices a rule differs from the document."""
    return len(identity.explanation.rule.point) if identity.explanation else 0
