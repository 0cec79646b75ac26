"""Lists what gradients may be replaced by: clipped ones, zeros for small ones, numbers for NaN and infinities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.laws.documented import nonfinite_gradients_act
from optimetry.conformance.laws.universal import nonfinite_gradients_stay
from optimetry.conformance.laws.variations import at_steps, poisoned, rescaled
from optimetry.conformance.naming.alterations import Alteration
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

LIMITS = (0.1, 0.5, 1.0, 5.0, 10.0, 100.0, 1000.0, 1e4)
"""The usual limits of a clip that nobody asked for."""

THRESHOLDS = tuple(10.0**-digits for digits in range(3, 13))
"""Below which gradients may count as zero."""

MAGNITUDES = (-13, 4, 35)
"""The exponents of the smallest and of the largest gradient that tell these apart, and how many there are."""

GROWTH = (1.0, 5.0, 0.3)
"""By what they are multiplied in each step."""

OF_NONFINITE = (nonfinite_gradients_act, nonfinite_gradients_stay)
"""The checks of laws that a replaced NaN or infinity may break."""

Change = Callable[[Array], Array]


def replacing_finite(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what finite gradients may be replaced by; gradients of all magnitudes tell them apart."""
    for limit in LIMITS:
        yield _clipping(f"±{limit:g}", lambda x, c=limit: np.clip(x, -c, c))  # type: ignore[misc]
        yield _clipping(f"at most {limit:g}", lambda x, c=limit: np.minimum(x, c))  # type: ignore[misc]
    for small in THRESHOLDS:
        dropped = f"a gradient element below {small:g} in magnitude"
        yield _taking("0", dropped, lambda x, c=small: np.where(np.abs(x) < c, 0, x))  # type: ignore[misc]
    if subject.has_learning_rate:
        run = {"finding": "replaced", "new": "no gradient", "old": "a whole gradient of zeros"}
        yield Mistake(run=run, fed=_missing_where(lambda x: not x.any()), shown_by=_with_zeros_in_a_step)


def _with_zeros_in_a_step(case: Case) -> Iterator[Case]:
    """Yield the case with gradients of zeros in the middle, where a state may move a parameter on."""
    grads, middle = list(case.grads), len(case.grads) // 2
    if middle:
        grads[middle] = tuple(None if x is None else np.zeros_like(x) for x in grads[middle])
        yield case.replace(grads=tuple(grads))


def of_all_magnitudes(case: Case) -> Iterator[Case]:
    """Yield a short case whose gradients have every magnitude, and change from step to step."""
    sizes = np.logspace(*MAGNITUDES)
    numbers = np.concatenate([sizes, -sizes])
    steps = min(len(case.grads), len(GROWTH))
    if case.size and steps:
        dtype, shape = case.form.dtype, fitting(subject_of(case), numbers.shape)
        yield case.replace(
            parameters=(np.resize(flat(case.parameters), shape),),
            grads=tuple((np.resize(numbers * growth, shape).astype(dtype),) for growth in GROWTH[:steps]),
            learning_rates=case.learning_rates[:steps],
        )


def _poisoned(case: Case) -> Iterator[Case]:
    """Yield the first steps of the case with NaN or an infinity in one gradient of each tensor."""
    return poisoned(at_steps(case, list(range(min(len(case.grads), len(GROWTH))))))


def replacing_nonfinite(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what NaN and infinities among gradients may be replaced by."""
    largest = FORMATS[dtype].largest
    values: dict[str, Change] = {
        "0": np.zeros_like,
        "the largest number": lambda x: np.copysign(np.full_like(x, largest), x),
    }
    nan, infinite, both = "NaN in gradients", "an infinity in gradients", "NaN and infinities in gradients"
    for new, value in values.items():
        yield _taking(new, infinite, _where(np.isinf, value), nonfinite=True)
    yield _taking("0", nan, _where(np.isnan, np.zeros_like), nonfinite=True)
    yield _taking("0", both, _where(lambda x: ~np.isfinite(x), np.zeros_like), nonfinite=True)
    yield _taking("0 and the largest number", both, lambda x: np.nan_to_num(x, posinf=largest, neginf=-largest), True)
    whole = "a whole gradient with NaN or an infinity in it"
    yield _taking("0", whole, lambda x: x if np.isfinite(x).all() else np.zeros_like(x), nonfinite=True)
    if subject.has_learning_rate:
        yield _taking("no gradient", whole, lambda x: x, nonfinite=True, fed=_missing_where(_not_finite))
        run = {"finding": "replaced", "new": "0", "old": "NaN and infinities in steps"}
        yield _beside(run, FiniteSteps())
    if isinstance(subject, RuleSubject):
        for slot in subject.declaration.slots:
            yield _beside({"finding": "guarded", "what": [slot]}, Guarded(slot))
    spread = "a whole gradient with NaN in it"
    yield _taking("NaN", spread, lambda x: np.full_like(x, np.nan) if np.isnan(x).any() else x, nonfinite=True)


@dataclass(frozen=True)
class FiniteSteps(Alteration):
    """Moves no element by what is not a finite number; the state moves on."""

    def update(self, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Keep the elements that would become NaN or infinite."""
        after, new = rule.update(param, grad, state, lr, t)
        numbers = getattr(after, "value", after)
        return np.where(np.isfinite(np.asarray(numbers, np.float64)), after, param), new


@dataclass(frozen=True)
class Guarded(Alteration):
    """Moves only the elements whose number in one slot is above 0, and so none whose number is NaN."""

    slot: str

    def update(self, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Keep the other elements; the state moves on."""
        after, new = rule.update(param, grad, state, lr, t)
        number = new[self.slot]
        unknown = np.isnan(np.asarray(getattr(number, "value", number), np.float64))
        if unknown.shape != param.shape:
            return after, new
        return np.where(unknown, param, np.where(number > 0, after, param)), new


def _beside(run: Mapping[str, Any], alteration: Alteration) -> Mistake:
    """Make a mistake of an alteration that NaN and infinities show."""
    how: dict[str, Any] = {"breaks": OF_NONFINITE, "needs": OF_NONFINITE, "shown_by": _poisoned}
    return Mistake(run=run, alteration=alteration, **how)


def _where(which: Callable[[Array], Any], value: Change) -> Change:
    return lambda x: np.where(which(x), value(x), x)


def _not_finite(grad: Array) -> bool:
    return not np.isfinite(grad).all()


def _missing_where(which: Callable[[Array], bool]) -> Callable[[Case], Case]:
    def fed(case: Case) -> Case:
        rows = tuple(tuple(None if x is None or which(x) else x for x in row) for row in case.grads)
        same = all(a is b for rows in zip(rows, case.grads, strict=True) for a, b in zip(*rows, strict=True))
        return case if same else case.replace(grads=rows)

    return fed


def _clipping(limits: str, change: Change) -> Mistake:
    return _made({"finding": "clipped", "limits": limits}, change, nonfinite=False)


def _taking(
    new: str, old: str, change: Change, nonfinite: bool = False, fed: Callable[[Case], Case] | None = None
) -> Mistake:
    return _made({"finding": "replaced", "new": new, "old": old}, change, nonfinite, fed)


def _made(run: dict[str, Any], change: Change, nonfinite: bool, fed: Callable[[Case], Case] | None = None) -> Mistake:
    """Make a mistake of a change of each gradient, of finite elements alone unless ``nonfinite``."""

    def changed_case(case: Case) -> Case:
        new = rescaled(case, lambda param: param, changed)
        pairs = [(a, b) for rows in zip(case.grads, new.grads, strict=True) for a, b in zip(*rows, strict=True)]
        return case if all(a is None or b is None or same_bits(a, b) for a, b in pairs) else new  # which is known

    def changed(grad: Array) -> Array:
        with np.errstate(all="ignore"):
            new = np.asarray(change(grad)).astype(grad.dtype)
            return new if nonfinite else np.where(np.isfinite(grad), new, grad)

    return Mistake(
        run=run,
        fed=fed or changed_case,
        breaks=OF_NONFINITE if nonfinite else (),
        needs=OF_NONFINITE if nonfinite else (),
        shown_by=_poisoned if nonfinite else of_all_magnitudes,
    )
