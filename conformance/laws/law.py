"""Declares laws: statements about runs of the same target, judged without an oracle.

Two runs agree where their bits are the same, or where rounding alone explains the difference: each may be off by the
slack times the rounding bound of the formula that the target computes, the documented one unless another is known.
What must not depend on rounding at all is compared bit for bit. Universal laws hold whatever the target computes; the
others are properties of the documented subject, which a dialect may lack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.numerics.arrays import Array, equal, same_bits
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, run_ahead, trajectory
from optimetry.reference.declaration import Declared

Formula = Callable[[Case], Expected]
"""The expected value of a formula on any case of its subject, with the rounding bound of its evaluation."""


class NotOffered(Exception):
    """The target does not offer a run that a law needs, so the law cannot be tried."""


@dataclass(frozen=True)
class Trial:
    """A target, the case a law is tried on, the guard over its runs, and the formula whose rounding bounds them.

    Attributes:
        formula: whose rounding bound runs are compared with: the documented one, unless another is known.
        rule_of: the formula that the target computes, from hyperparameters, where that is not the documented one.
        ran: every case that was run for the law so far, with its trajectory; shared with the trials made of this one.
        engines: all engines of the target that are judged, in the order in which it lists them.
        known: what targets have returned to other laws, by `Case.content`; None where every run is a new one.
    """

    target: Target
    case: Case
    guard: Guard
    formula: Formula = expected
    rule_of: Callable[[Mapping[str, Any]], Declared] | None = None
    ran: list[tuple[Case, Array]] = field(default_factory=list)
    engines: Sequence[Target] = ()
    known: dict[tuple[Any, ...], Array] | None = None

    @property
    def declaration(self) -> Any:
        """The declaration of the case's subject."""
        return subject_of(self.case).declaration

    @property
    def documented(self) -> Declared:
        """The documented formula with the case's hyperparameters."""
        return subject_of(self.case).of(self.case.hyper)

    @property
    def computed(self) -> Declared:
        """The formula that the target computes, with the case's hyperparameters."""
        return self.rule_of(self.case.hyper) if self.rule_of else self.documented

    def on(self, case: Case) -> Trial:
        """Return a trial of the same target on another case; evaluations are shared with other targets."""
        return replace(self, case=met_before(case))

    def with_engine(self, engine: Target) -> Trial:
        """Return a trial of another engine of the same target on the same case."""
        return replace(self, target=engine)

    def run(self, *, anew: bool = False) -> Array:
        """Return the trajectory of a run; another law's run of the same case is reused, unless ``anew``.

        Raises:
            NotOffered: the target does not offer what the case asks for.
        """
        after = None if anew else self._known
        if after is None:
            if not self.offered:
                raise NotOffered
            after = trajectory(self.target, self.case, self.guard)
            if self.known is not None:
                self.known[self._key] = after
        self.ran.append((self.case, after))
        return after.copy()  # laws may change what they compare

    def ahead(self, *others: Trial) -> None:
        """Let a program play this case and those of other trials in one message, as far as they are not known."""
        run_ahead(self.target, [trial.case for trial in (self, *others) if self.on(trial.case)._known is None])

    @property
    def _key(self) -> tuple[Any, ...]:
        return id(self.target), *self.case.content

    @property
    def _known(self) -> Array | None:
        """What this run has returned to another law."""
        return self.known.get(self._key) if self.known is not None else None

    @property
    def offered(self) -> bool:
        """Whether the target offers what the case asks for."""
        return reason_unsupported(self.target, self.case) is None

    def against(self, other: Trial, undo: Callable[[Array], Array] = lambda after: after) -> str | None:
        """Compare with ``undo`` of another trajectory; return the first difference that rounding does not explain."""
        self.ahead(other)
        with np.errstate(all="ignore"):
            a, b = self.run(), undo(other.run())
            return None if same_bits(a, b) else self.agrees(a, b, undo(self.formula(other.case).bound))

    def agrees(self, a: Array, b: Array, bound_of_b: Any = None) -> str | None:
        """Compare two trajectories of this case; return the first difference that rounding does not explain."""
        if same_bits(a, b):
            return None
        bound = self.formula(self.case).bound
        with np.errstate(all="ignore"):
            return beyond(a, b, bound + np.abs(bound if bound_of_b is None else bound_of_b))


def beyond(a: Array, b: Array, bound: Any) -> str | None:
    """Describe where two trajectories are first further apart than the slack times a bound; None if nowhere."""
    with np.errstate(all="ignore"):
        reach = bound * SLACK
        apart = np.abs(a.astype(reach.dtype) - b.astype(reach.dtype))
    same = equal(a, b) | ~np.isfinite(reach) | (apart <= reach)
    return first_difference(~same, a, b, reach)


class Difference(str):
    """The description of a difference between two trajectories, with their numbers, from which a script is made.

    Attributes:
        first: the first trajectory, shape (steps, elements).
        second: the second.
        allowed: how far apart they may be, not finite where they may differ by any amount.
    """

    first: Array
    second: Array
    allowed: Any

    @classmethod
    def of(cls, text: str, first: Array, second: Array, allowed: Any) -> Difference:
        """Return a text with its numbers."""
        difference = cls(text)
        difference.first, difference.second, difference.allowed = first, second, allowed
        return difference

    def extended(self, after: str = "", *, before: str = "") -> Difference:
        """Return this difference with text before or after its description."""
        return Difference.of(f"{before}{self}{after}", self.first, self.second, self.allowed)


def prefixed(prefix: str, contradiction: str) -> str:
    """Put a prefix before the text of a contradiction; a `Difference` keeps its numbers."""
    return contradiction.extended(before=prefix) if isinstance(contradiction, Difference) else prefix + contradiction


def first_difference(different: Any, a: Array, b: Array, reach: Any = 0.0) -> Difference | None:
    """Describe where two trajectories first differ by more than ``reach``; None where they do not."""
    if not different.any():
        return None
    step, element = np.unravel_index(int(np.argmax(different)), different.shape)
    text = f"{a[step, element]} against {b[step, element]} at step {step + 1}, element {element}"
    with np.errstate(all="ignore"):
        comparable = different | (np.abs(a.astype(np.float64) - b.astype(np.float64)) <= reach)
    return Difference.of(text, a, b, np.where(comparable, reach, np.inf))


def exact_difference(a: Array, b: Array) -> Difference | None:
    """Describe where two trajectories first differ, however little; None where they are `equal`.

    The signs of zeros are left out on purpose: a sum that begins at 0 loses them, and is as good.
    """
    return first_difference(~equal(a, b), a, b)


LawCheck = Callable[[Trial], str | None]
Applies = Callable[[Subject], bool]


@dataclass(frozen=True)
class Law:
    """A statement about the runs of one target.

    Attributes:
        name: the name of its function, which reasons quote.
        statement: what holds, in a few words.
        universal: whether it holds whatever is computed, or is a property of the documented subject.
        applies: to which subjects.
        check: returns None where the law holds on a trial, else what contradicts it.
        slow: whether it takes so long that it is tried on the first case alone, and no case is shrunk for it.
        symptom: whether almost every defect breaks it, so that it tells little of the cause.
        any_arithmetic: whether it holds for the documented formula however that is computed, with less precision too.
    """

    name: str
    statement: str
    universal: bool
    applies: Applies
    check: LawCheck
    slow: bool = False
    symptom: bool = False
    any_arithmetic: bool = False

    def broken(self, trial: Trial) -> str | None:
        """Return what contradicts the law on a trial, None where nothing does or the law cannot be tried.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        try:
            return self.check(trial) if self.applies(subject_of(trial.case)) else None
        except NotOffered:
            return None


LAWS: dict[str, Law] = {}
"""Every law by name; filled when `optimetry.conformance.laws` is imported."""


def laws_of(subject: Subject) -> list[Law]:
    """Return the laws that apply to a subject, the most telling first.

    What breaks a universal law is no formula at all; a symptom comes last.
    """
    applicable = (law for law in LAWS.values() if law.applies(subject))
    return sorted(applicable, key=lambda law: (not law.universal, law.symptom))


def every_subject(subject: Subject) -> bool:
    """Return True for every subject."""
    return True


def is_rule(subject: Subject) -> bool:
    """Whether a subject is an update rule."""
    return isinstance(subject, RuleSubject)


def is_elementwise(subject: Subject) -> bool:
    """Whether the elements of a subject are independent of each other."""
    return subject.elementwise


def is_elementwise_rule(subject: Subject) -> bool:
    """Whether a subject is an update rule whose elements are independent of each other."""
    return is_rule(subject) and is_elementwise(subject)


def is_average(subject: Subject) -> bool:
    """Whether a subject averages parameters."""
    return bool(getattr(subject, "averages", False))


def takes_gradients(subject: Subject) -> bool:
    """Whether a subject is fed gradients: an update rule, a clip or a regularizer."""
    return not is_average(subject)


def is_joint(subject: Subject) -> bool:
    """Whether what a wrapper gives for one parameter depends on the others."""
    return subject.joint


def treats_alone(subject: Subject) -> bool:
    """Whether a subject is a wrapper that treats each parameter as if it were alone."""
    return not is_rule(subject) and not is_joint(subject)


def clips(subject: Subject) -> bool:
    """Whether a subject limits what it is fed."""
    return bool(getattr(subject.declaration, "clips", False))


def keeps_state(subject: Subject) -> bool:
    """Whether a target may offer to save and load a run: of a rule or of an average."""
    return is_rule(subject) or is_average(subject)


def named(name: str) -> Applies:
    """Return a condition: the subject has this name."""
    return lambda subject: subject.name == name


def law(
    statement: str,
    *,
    universal: bool = True,
    applies: Applies = every_subject,
    slow: bool = False,
    symptom: bool = False,
    any_arithmetic: bool = False,
) -> Callable[[LawCheck], LawCheck]:
    """Enter a check into `LAWS` under its function's name.

    Raises:
        ValueError: there is a law of that name.
    """

    def enter(check: LawCheck) -> LawCheck:
        if check.__name__ in LAWS:
            raise ValueError(f"law {check.__name__} is entered twice")
        LAWS[check.__name__] = Law(check.__name__, statement, universal, applies, check, slow, symptom, any_arithmetic)
        return check

    return enter
