"""What a law is: a statement about runs of the same target, judged without an oracle.

Two runs agree where their bits are the same, or where rounding alone explains the difference: each may be off by the
slack times the documented rule's rounding bound. What must not depend on rounding at all is compared bit for bit.
Universal laws hold whatever rule the target computes; the others are properties of the documented rule, which a
dialect may lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule


@dataclass(frozen=True)
class Trial:
    """A target, the case a law is tried on, and the guard over its runs."""

    target: Target
    case: Case
    guard: Guard

    @property
    def rule(self) -> type[Rule]:
        """The declaration of the case's rule."""
        return type(self.case.rule)

    def on(self, case: Case) -> Trial:
        """The same target on another case."""
        return Trial(self.target, case, self.guard)

    def on_target(self, target: Target) -> Trial:
        """Another target on the same case."""
        return Trial(target, self.case, self.guard)

    def run(self) -> Array:
        """The target's trajectory."""
        return trajectory(self.target, self.case, self.guard)

    @property
    def offered(self) -> bool:
        """Whether the target offers what the case asks for."""
        return reason_unsupported(self.target, self.case.optimizer, self.case.hyper, self.case.dtype) is None

    def against(self, other: Trial, undo: Callable[[Array], Array] = lambda after: after) -> str | None:
        """None where ``undo`` of the other trajectory differs from this one by rounding alone."""
        with np.errstate(all="ignore"):
            return self.agrees(self.run(), undo(other.run()), undo(expected(other.case).bound))

    def agrees(self, a: Array, b: Array, bound_of_b: Any = None) -> str | None:
        """None where two trajectories of this case differ by rounding alone, else where they first do not."""
        if same_bits(a, b):
            return None
        bound = expected(self.case).bound
        with np.errstate(all="ignore"):
            reach = (bound + np.abs(bound if bound_of_b is None else bound_of_b)) * SLACK
            apart = np.abs(a.astype(bound.dtype) - b.astype(bound.dtype))
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | ~np.isfinite(reach) | (apart <= reach)
        return first_difference(~same, a, b)


def first_difference(different: Any, a: Array, b: Array) -> str | None:
    """Where two trajectories differ first, in words; None where they do not."""
    if not different.any():
        return None
    step, element = np.unravel_index(int(np.argmax(different)), different.shape)
    return f"{a[step, element]} against {b[step, element]} at step {step + 1}, element {element}"


Check = Callable[[Trial], str | None]


@dataclass(frozen=True)
class Law:
    """A statement about the runs of one target.

    Attributes:
        name: as it stands in reasons.
        statement: what holds, in a few words.
        universal: whether it holds for every rule, or is a property of the documented one.
        applies: to which documented rules.
        check: None where the law holds on a trial, else what was found.
    """

    name: str
    statement: str
    universal: bool
    applies: Callable[[type[Rule]], bool]
    check: Check

    def broken(self, target: Target, case: Case, guard: Guard) -> str | None:
        """What contradicts the law on a case, None where nothing does or the law does not apply.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        return self.check(Trial(target, case, guard)) if self.applies(type(case.rule)) else None


LAWS: dict[str, Law] = {}
"""Every law by name."""


def in_order() -> list[Law]:
    """Every law in the order they are tried: the universal ones first, since what breaks them is no rule at all."""
    return sorted(LAWS.values(), key=lambda law: not law.universal)


def law(
    statement: str, *, universal: bool = True, applies: Callable[[type[Rule]], bool] = lambda rule: True
) -> Callable[[Check], Check]:
    """Enter a check into `LAWS` under its function's name."""

    def enter(check: Check) -> Check:
        LAWS[check.__name__] = Law(check.__name__, statement, universal, applies, check)
        return check

    return enter
