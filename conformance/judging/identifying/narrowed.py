"""Finds which numbers a target holds in float32 beside float64 parameters, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.conformance.targets.limits import constants_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory


def narrowed(observed: Observed, identity: Identity) -> Identity:
    """Reduce the numbers held in float32 to those that the probes, or else the cases, show."""
    explanation = identity.explanation
    assert explanation is not None
    if explanation.arithmetic.float32_in_some_uses:
        identity = _shown(observed, explanation) or _supposed(observed, identity)
    return _that_may_differ(observed, identity)


def _that_may_differ(observed: Observed, identity: Identity) -> Identity:
    """Leave out the numbers that the target pins at a value which float32 holds, so that nobody sees a rounding."""
    explanation = identity.explanation
    assert explanation is not None
    held = {name for name, value in constants_of(observed.limits).items() if to_float32(value) == value}
    both = explanation.arithmetic.float32, explanation.arithmetic.float32_in_some_uses
    rounded, partly = (tuple(name for name in numbers if name not in held) for numbers in both)
    return replace(identity, explanation=explanation.with_numbers(rounded, partly))


def _shown(observed: Observed, explanation: Explanation) -> Identity | None:
    """Hold in float32 only the numbers that probes, or else cases, show; None where that leaves a case unexplained.

    Nothing is shown where numbers are combined: the probe of each number shows the rounding of all.
    """
    if explanation.arithmetic.combined:
        return None
    cases = probes_of(explanation.rule.optimizer, "float64") or observed.first_offered()
    shown = numbers_in_float32(observed.target, explanation.with_numbers(()), tuple(cases), observed.guard)
    if not shown.float32 + shown.float32_in_some_uses:
        return None
    return observed.holding(explanation.with_numbers(shown.float32, shown.float32_in_some_uses))


def _supposed(observed: Observed, identity: Identity) -> Identity:
    """Hold as few numbers in float32 as explain every case, and throughout where that explains them, too."""
    explanation = identity.explanation
    assert explanation is not None
    names = explanation.arithmetic.float32_in_some_uses
    identity = _sharpest_alone(observed, explanation, names) or _with_fewer(observed, identity, names)
    assert identity.explanation is not None
    names = identity.explanation.arithmetic.float32_in_some_uses
    throughout: tuple[str, ...] = ()
    for name in names:
        others = tuple(other for other in names if other not in (*throughout, name))
        reduced = observed.holding(explanation.with_numbers((*throughout, name), others))
        if reduced is not None:
            identity, throughout = reduced, (*throughout, name)
    return identity


def _sharpest_alone(observed: Observed, explanation: Explanation, names: Sequence[str]) -> Identity | None:
    """Hold a single number in float32: of those that explain every case, the one with the tightest bound.

    A number that needs the slack for regrouping comes behind those that do not.
    """

    def sharpness(identity: Identity) -> tuple[bool, float]:
        share = identity.from_explanation.share
        return share <= 1, share

    identities = [observed.holding(explanation.with_numbers((), (name,))) for name in names]
    return max((identity for identity in identities if identity), key=sharpness, default=None)


def _with_fewer(observed: Observed, identity: Identity, names: Sequence[str]) -> Identity:
    """Drop numbers held in float32, one after the other, as long as the explanation still holds.

    The bounds of numbers that are combined there are so wide that, with the slack for regrouping, one may stand for
    another. So none of these is dropped if what is left needs that slack and what was there did not.
    """
    explanation = identity.explanation
    assert explanation is not None
    for name in names:
        fewer = tuple(other for other in names if other != name)
        reduced = observed.holding(explanation.with_numbers((), fewer)) if fewer else None
        share = identity.from_explanation.share
        if reduced and not (explanation.arithmetic.combined and share <= 1 < reduced.from_explanation.share):
            identity, names = reduced, fewer
    return identity


def numbers_in_float32(target: Target, explanation: Explanation, cases: Sequence[Case], guard: Guard) -> Arithmetic:
    """Find the numbers that a target holds in float32 and that otherwise is explained by a formula without any.

    Only what some cases in float64 show is found. In a case whose other numbers are all representable in float32,
    rounding them changes nothing: what the target then computes shows whether the remaining number is rounded, and
    whether in all of its uses. A case shows nothing if something is rounded though all numbers are representable, such
    as a product of them.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    telling = [case for case in cases if _otherwise(target, _alone(case), explanation, guard) is None]
    throughout, in_some_uses = list[str](), list[str]()
    for name in subject_named(explanation.rule.optimizer).numbers:
        how = {_how(target, _alone(case, name), name, explanation, guard) for case in telling}
        if "in some uses" in how:
            in_some_uses.append(name)
        elif "throughout" in how:
            throughout.append(name)
    return Arithmetic(float32=tuple(throughout), float32_in_some_uses=tuple(in_some_uses))


def _alone(case: Case, name: str | None = None) -> Case:
    """Make every number of a case but one representable in float32."""
    hyper = {
        other: to_float32(value) if isinstance(value, float) and other != name else value
        for other, value in case.hyper.items()
    }
    rates = case.learning_rates if name == LEARNING_RATE else tuple(map(to_float32, case.learning_rates))
    return case.replace(hyper=hyper, learning_rates=rates)


def _how(target: Target, case: Case, name: str, explanation: Explanation, guard: Guard) -> str | None:
    """Return how a number is rounded in a case, None where it is not, or where the case is not offered."""
    after = _otherwise(target, case, explanation, guard)
    if after is None:
        return None
    rounded = explanation.with_numbers((name,))
    return "throughout" if explains(after, rounded.expected(case), case.form) else "in some uses"


def _otherwise(target: Target, case: Case, explanation: Explanation, guard: Guard) -> Array | None:
    """Return the trajectory of a target in a case that it offers and that is not explained, else None."""
    if reason_unsupported(target, case) is not None:
        return None
    after = trajectory(target, case, guard)
    return None if explains(after, explanation.expected(case), case.form) else after
