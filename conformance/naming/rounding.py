"""Which numbers a target holds in float32 beside float64 parameters, found one by one.

In a probe whose other numbers are all representable in float32, rounding them changes nothing: what the target then
computes tells whether the one number left is rounded, and whether in all of its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.precision import to_float32
from optimetry.conformance.naming.probes import probes_of
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.oracle.expected import LEARNING_RATE, expected
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named


@dataclass(frozen=True)
class Rounded:
    """Numbers that are held in float32; none by default.

    Attributes:
        throughout: those that are rounded wherever they are used.
        in_some_uses: those that are rounded in some uses, or by other roundings than one to float32.
    """

    throughout: tuple[str, ...] = ()
    in_some_uses: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.throughout + self.in_some_uses

    def __str__(self) -> str:
        parts = [f"{', '.join(self.throughout)} held in float32"] * bool(self.throughout)
        parts += [f"{', '.join(self.in_some_uses)} held in float32 in some uses"] * bool(self.in_some_uses)
        return " and ".join(parts)


NONE_ROUNDED = Rounded()


def narrowable(optimizer: str) -> tuple[str, ...]:
    """The numbers that an implementation may hold in float32: the real hyperparameters and the learning rate."""
    real = [declared.name for declared in rule_named(optimizer).hyperparameters() if declared.kind is float]
    return (*real, LEARNING_RATE)


def rounded_numbers(target: Target, optimizer: str, rule: Callable[[Mapping[str, Any]], Rule], guard: Guard) -> Rounded:
    """What a target that computes ``rule`` holds in float32, as far as the probes of its family show it.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    found: dict[str, list[str]] = {"throughout": [], "in some uses": []}
    for name in narrowable(optimizer):
        how = [_how(target, _alone(case, name), name, rule, guard) for case in probes_of(optimizer, "float64")]
        for each in ("in some uses", "throughout"):
            if each in how:
                found[each].append(name)
                break
    return Rounded(tuple(found["throughout"]), tuple(found["in some uses"]))


def _alone(case: Case, name: str) -> Case:
    """The case with every number but one representable in float32."""
    hyper = {
        other: to_float32(value) if isinstance(value, float) and other != name else value
        for other, value in case.hyper.items()
    }
    rates = case.learning_rates if name == LEARNING_RATE else tuple(map(to_float32, case.learning_rates))
    return case.replace(hyper=hyper, learning_rates=rates)


def _rounded(case: Case, name: str) -> Case:
    """The case with this number rounded as well."""
    if name == LEARNING_RATE:
        return case.replace(learning_rates=tuple(map(to_float32, case.learning_rates)))
    return case.replace(hyper={**case.hyper, name: to_float32(case.hyper[name])})


def _how(target: Target, case: Case, name: str, rule: Callable[[Mapping[str, Any]], Rule], guard: Guard) -> str | None:
    """How a number is rounded in a case, None where it is not, or the case is not taken."""
    if reason_unsupported(target, case.optimizer, case.hyper, case.dtype) is not None:
        return None
    after = trajectory(target, case, guard)
    if explains(after, expected(case, rule(case.hyper)), case.form):
        return None
    other = _rounded(case, name)
    return "throughout" if explains(after, expected(other, rule(other.hyper)), case.form) else "in some uses"
