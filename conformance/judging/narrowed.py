"""Finds which numbers a target holds in float32 beside float64 parameters, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.holding import Holding, Identity
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.probes import probes_of
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory


def narrowed(held: Holding, identity: Identity) -> Identity:
    """Reduce the numbers held in float32 to those that the probes, or else the cases, show."""
    explanation = identity.explanation
    assert explanation is not None
    names = explanation.arithmetic.float32_in_some_uses
    if not names:
        return identity
    found = _shown(held, explanation) or _sharpest_alone(held, explanation, names) or _with_fewer(held, identity, names)
    assert found.explanation is not None
    throughout, names = found.explanation.arithmetic.float32, found.explanation.arithmetic.float32_in_some_uses
    for name in names:
        others = tuple(other for other in names if other not in (*throughout, name))
        sharper = held.holding(explanation.with_numbers((*throughout, name), others))
        if sharper is not None:
            found, throughout = sharper, (*throughout, name)
    return found


def _shown(held: Holding, explanation: Explanation) -> Identity | None:
    """Return the same with those numbers held in float32 that the probes show, if that explains every case.

    Where numbers are combined, the probe of each shows what is rounded of all.
    """
    shown = numbers_in_float32(held.target, explanation.with_numbers(()), held.guard)
    if explanation.arithmetic.combined or not shown.float32 + shown.float32_in_some_uses:
        return None
    return held.holding(explanation.with_numbers(shown.float32, shown.float32_in_some_uses))


def _sharpest_alone(held: Holding, explanation: Explanation, names: Sequence[str]) -> Identity | None:
    """Return the same with one number held in float32: of those that explain it, the one with the tightest bound.

    One that needs the slack for regrouping comes behind those that do not.
    """

    def sharpness(identity: Identity) -> tuple[bool, float]:
        share = identity.from_explanation.share
        return share <= 1, share

    found = [held.holding(explanation.with_numbers((), (name,))) for name in names]
    return max((one for one in found if one), key=sharpness, default=None)


def _with_fewer(held: Holding, identity: Identity, names: Sequence[str]) -> Identity:
    """Drop numbers held in float32, one after the other, as long as the explanation still holds.

    The bounds of numbers that are combined there are so wide that, with the slack for regrouping, one may stand for
    another. So none of these is dropped if what is left needs that slack and what was there did not.
    """
    explanation = identity.explanation
    assert explanation is not None
    for name in names:
        fewer = tuple(other for other in names if other != name)
        found = held.holding(explanation.with_numbers((), fewer)) if fewer else None
        share = identity.from_explanation.share
        if found and not (explanation.arithmetic.combined and share <= 1 < found.from_explanation.share):
            identity, names = found, fewer
    return identity


def numbers_in_float32(target: Target, explanation: Explanation, guard: Guard) -> Arithmetic:
    """Find what a target holds in float32 that an explanation without such numbers explains otherwise.

    It is found as far as the probes of the family show. In a probe whose other numbers are all representable in
    float32, rounding them changes nothing: what the target then computes shows whether the remaining number is rounded,
    and whether in all of its uses.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    optimizer = explanation.rule.optimizer
    probes = probes_of(optimizer, "float64")
    throughout, in_some_uses = list[str](), list[str]()
    for name in subject_named(optimizer).numbers if probes else ():
        how = {_how(target, _alone(case, name), name, explanation, guard) for case in probes}
        if "in some uses" in how:
            in_some_uses.append(name)
        elif "throughout" in how:
            throughout.append(name)
    return Arithmetic(float32=tuple(throughout), float32_in_some_uses=tuple(in_some_uses))


def _alone(case: Case, name: str) -> Case:
    """Make every number of a case but one representable in float32."""
    hyper = {
        other: to_float32(value) if isinstance(value, float) and other != name else value
        for other, value in case.hyper.items()
    }
    rates = case.learning_rates if name == LEARNING_RATE else tuple(map(to_float32, case.learning_rates))
    return case.replace(hyper=hyper, learning_rates=rates)


def _how(target: Target, case: Case, name: str, explanation: Explanation, guard: Guard) -> str | None:
    """Return how a number is rounded in a case, None where it is not, or where the case is not offered."""
    if reason_unsupported(target, case) is not None:
        return None
    after = trajectory(target, case, guard)
    if explains(after, explanation.expected(case), case.form):
        return None
    rounded = explanation.with_numbers((name,))
    return "throughout" if explains(after, rounded.expected(case), case.form) else "in some uses"
