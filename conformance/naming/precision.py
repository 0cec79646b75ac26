"""Finds which numbers a target holds in float32 beside float64 parameters, one by one.

In a probe whose other numbers are all representable in float32, rounding them changes nothing: what the target then
computes shows whether the remaining number is rounded, and whether in all of its uses.
"""

from __future__ import annotations

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.probes import probes_of
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory


def numbers_in_float32(target: Target, explanation: Explanation, guard: Guard) -> Arithmetic:
    """Find what a target holds in float32 that an explanation without such numbers explains otherwise.

    It is found as far as the probes of the family show.

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
