"""Identifies what a rejected engine computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.narrowed import narrowed
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.judging.identifying.saved_slots import format_of_slots
from optimetry.conformance.judging.identifying.short_numbers import with_short_numbers
from optimetry.conformance.naming.candidates import FLUSHED, tiers, tiers_combined, tiers_computed_in, tiers_of_steps
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.elsewhere import FORMULAS_ELSEWHERE, rules_elsewhere
from optimetry.conformance.naming.known.increments import knows_increments
from optimetry.conformance.naming.known.points import PointClass, counts_steps
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import FORMATS, narrowest
from optimetry.conformance.oracle.expected import decays_of
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.declaration import Hyperparameter

ENOUGH = 4
"""How many cases must hold to name another rule: probes tell apart the points of one family alone."""

WAYS_ELSEWHERE = FLUSHED, dataclasses.replace(FLUSHED, incremental_moments=True)
"""How other rules may be computed, the sharpest first; `identify` adds more."""


def identify(observed: Observed) -> Identity:
    """Try candidates tier by tier; the first tier in which one holds decides, and it must be the only one.

    Where the target does not offer all hyperparameters, rules that differ in general may coincide: the one that differs
    from the document in the fewest choices stands for them. Other rules that hold as well are named beside it, and in
    its place where no rule of the subject's own family holds.

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
    elsewhere = _found_elsewhere(observed, ways)
    if elsewhere is None:
        return identity
    if elsewhere.explanation and elsewhere.explanation.arithmetic.float32_in_some_uses:
        for narrower in (identify_steps(observed), identify_combined(observed)):
            if narrower.explanation and narrower.explanation.rule.documented:
                return narrower  # two texts of one formula combine other numbers
    return elsewhere


def identify_combined(observed: Observed) -> Identity:
    """Try candidates whose numbers are combined in float32 beside float64 parameters, as `identify` tries others.

    Two or more must be combined, or a decay or the learning rate with the number of the step.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    identity = _first_holding(observed, tiers_combined(observed.optimizer, observed.dtype))
    arithmetic = identity.explanation.arithmetic if identity.explanation else PLAIN
    numbers = arithmetic.float32 + arithmetic.float32_in_some_uses
    decays = decays_of(subject_named(observed.optimizer)) if counts_steps(observed.optimizer) else frozenset()
    able = len(numbers) > 1 or not decays.isdisjoint(numbers)
    able = able or (numbers == (LEARNING_RATE,) and _exact_where_short(observed, identity))
    return identity if able else dataclasses.replace(identity, explanation=None)


def _exact_where_short(observed: Observed, identity: Identity) -> bool:
    """Whether nothing is rounded where the learning rate has few bits, so that its product with a step has them all."""
    assert identity.explanation is not None
    exact = identity.explanation.with_numbers(())
    cases = observed.offered(with_short_numbers(case, observed.limits) for case in observed.first_offered())
    return all(explains(observed.run_anew(case), exact.expected(case), case.form) for case in cases)


def identify_steps(observed: Observed) -> Identity:
    """Try candidates that compute all but the parameters in a narrower format, of which the steps or all slots are.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    if not subject_named(observed.optimizer).has_learning_rate:
        return Identity(None)
    narrower = "float32" if observed.dtype == "float64" and _steps_fit(observed) else format_of_slots(observed)
    return _first_holding(observed, tiers_of_steps(observed.optimizer, narrower)) if narrower else Identity(None)


def _steps_fit(observed: Observed) -> bool:
    """Whether float32 holds the first step from parameters that are 0, and so the step itself, in several cases.

    Their learning rate is 1, since a product with any other one may be of float64, unless the target has one alone.
    """
    starts = (case.upto(1).mapped(param=np.zeros_like) for case in observed.cases() if case.grads)
    rated = (observed.limits.offered(case.replace(learning_rates=(1.0,))) for case in observed.offered(starts))
    steps = map(observed.run_anew, rated)
    moved = list(islice((step for step in steps if np.any(np.isfinite(step) & (step != 0))), ENOUGH))
    return len(moved) == ENOUGH and all(FORMATS["float32"].holds(step[np.isfinite(step)]) for step in moved)


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
    identity = _first_holding(
        observed, tiers_computed_in(observed.optimizer, narrower, observed.probed.counts_otherwise)
    )
    if not identity.explanation and not identity.several:
        ways = [dataclasses.replace(way, computed_in=narrower) for way in WAYS_ELSEWHERE]
        identity = _found_elsewhere(observed, ways) or identity
    return identity if fits(observed, narrower) else Identity(None)


def narrower_than(probed: Probed, rejected: tuple[Case, Array]) -> str | None:
    """Return the narrowest format that holds what a target made in the probes and a case; None where only its own.

    None, too, for a target that made no finite number: every format has infinities and NaN.
    """
    made = np.concatenate([_made(*run) for run in (rejected, *probed.cases)])
    return narrowest(made[np.isfinite(made)])


def fits(observed: Observed, narrower: str) -> bool:
    """Whether a format holds all numbers that a target made in the cases tried so far."""
    return all(FORMATS[narrower].holds(_made(*run)) for run in observed.runs.items())


def _made(case: Case, after: Array) -> Array:
    """Return the numbers that a target returned in a case, but for those that it was fed."""
    fed = flat(case.arrays)
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
            simplest, *others = sorted(alive, key=_choices)
            alike = (other.explanation.rule.name for other in others if other.explanation)
            identity = narrowed(observed, simplest)
            elsewhere = _same_elsewhere(observed, identity.explanation)
            if elsewhere and identity.explanation and not identity.explanation.rule.declared:
                identity = narrowed(observed, elsewhere[0])  # a rule that some book documents is preferred
            return dataclasses.replace(identity, alike=tuple(dict.fromkeys(alike)), elsewhere=_names(elsewhere))
    return longest


def _found_elsewhere(observed: Observed, ways: Sequence[Arithmetic]) -> Identity | None:
    """Identify a target by other rules, or else by their dialects, where its own family has no name for it.

    Bounds that allow for flushed subnormals contain those that do not, so candidates are tried with the wider ones.

    Args:
        observed: the engine.
        ways: the ways in which these rules may be computed, flushing subnormals, the sharpest first.
    """
    for rules in _tiers_elsewhere(observed.probed, observed.pinned):
        for widest in ways:
            alive = [each for each in _elsewhere(observed, rules, widest) if _uses_any(observed, each.explanation)]
            holding = [identity.explanation.rule for identity in alive if identity.explanation]
            if alive:
                alive = _elsewhere(observed, holding, dataclasses.replace(widest, flushes_subnormals=False)) or alive
                alive = [identity for identity in alive if identity.tried >= ENOUGH]
                return dataclasses.replace(narrowed(observed, alive[0]), elsewhere=_names(alive)) if alive else None
    return None


def _uses_any(observed: Observed, explanation: Explanation | None) -> bool:
    """Whether some number that a target is given has an effect on some case: else a plainer formula is meant.

    A rule of that name in another book is meant all the same: TensorFlow.js' Adadelta has no use for its decay.
    """
    if explanation is None:
        return False
    if _called_alike(explanation.rule.computed, observed.optimizer):
        return True
    declared = subject_named(observed.optimizer).hyperparameters()
    numbers = [x for x in declared if x.kind is float and len(x.corners) > 1 and x.name not in observed.pinned]
    cases = list(observed.first_offered())
    return not numbers or any(_has_effect(explanation, case, x) for x in numbers for case in cases)


def _called_alike(rule: str, other: str) -> bool:
    """Whether two rules have one name, perhaps in two books."""
    return rule.rpartition(".")[2] == other.rpartition(".")[2]


def _has_effect(explanation: Explanation, case: Case, number: Hyperparameter) -> bool:
    """Whether another value of a number takes a result beyond the bound."""
    other = next(value for value in number.corners if value != case.hyper[number.name])
    changed = explanation.expected(case.replace(hyper={**case.hyper, number.name: other}))
    return not explains(changed.value, explanation.expected(case), case.form)


def _tiers_elsewhere(probed: Probed, pinned: frozenset[str]) -> Iterator[Sequence[PointClass]]:
    """Yield the formulas of other rules, the simplest first; other step counts only for a target that shows one."""
    for formulas_of in FORMULAS_ELSEWHERE:
        rules = formulas_of(probed.optimizer, pinned)
        yield rules
        if probed.counts_otherwise:
            counting = [rule for rule in rules if counts_steps(rule.computed)]
            yield [rule.counting(way) for rule in counting for way in STEP_COUNTS]


def _same_elsewhere(observed: Observed, explanation: Explanation | None) -> list[Identity]:
    """Return the other rules that hold with the same arithmetic; none beside the documented rule."""
    if explanation is None or explanation.rule.documented:
        return []
    return _elsewhere(observed, rules_elsewhere(observed.optimizer, observed.pinned), explanation.arithmetic)


def _elsewhere(observed: Observed, rules: Sequence[PointClass], arithmetic: Arithmetic) -> list[Identity]:
    """Return the rules that hold, computed with this arithmetic; those that cannot be are left out."""
    able = [rule for rule in rules if knows_increments(rule.computed)]
    chosen = able if arithmetic.incremental_moments else rules
    return observed.surviving([Explanation(rule, arithmetic) for rule in chosen])[0]


def _names(alive: Sequence[Identity]) -> tuple[str, ...]:
    return tuple(identity.explanation.rule.name for identity in alive if identity.explanation)


def _with_fewest_numbers(alive: Sequence[Identity]) -> list[Identity]:
    """Leave out explanations with more numbers in float32 than another one that explains as much."""
    known = [identity.explanation for identity in alive if identity.explanation is not None]
    return [
        identity
        for identity in alive
        if identity.explanation and not any(map(identity.explanation.holds_more_than, known))
    ]


def _choices(identity: Identity) -> int:
    """Return in how many choices a rule differs from the document."""
    return len(identity.explanation.rule.point) if identity.explanation else 0
