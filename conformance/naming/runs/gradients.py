"""Lists what gradients may be replaced by: clipped ones, zeros for small ones, numbers for NaN and infinities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.laws.documented import nonfinite_gradients_act
from optimetry.conformance.laws.universal import nonfinite_gradients_stay
from optimetry.conformance.laws.variations import poisoned
from optimetry.conformance.naming.alterations import Alteration
from optimetry.conformance.naming.edits.usual import CLIP_VALUES
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

THRESHOLDS = tuple(10.0**-digits for digits in range(3, 13))
"""Below which gradients may count as zero."""

MAGNITUDES = (-13, 4, 35)
"""The exponents of the smallest and of the largest gradient that tell these apart, and how many there are."""

GROWTH = (1.0, 5.0, 0.3)
"""By what they are multiplied in each step."""

OF_NONFINITE = (nonfinite_gradients_act, nonfinite_gradients_stay)
"""The checks of laws that a replaced NaN or infinity may break."""

GradientChange = Callable[[Array], Array | None]
"""What takes the place of a gradient; nothing where it is missing then."""


def taken(new: str, old: str) -> dict[str, str]:
    """Return what a verdict records of one thing that is taken for another."""
    return {"finding": "replaced", "new": new, "old": old}


def replacing_finite(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what finite gradients may be replaced by; gradients of all magnitudes tell them apart."""
    for limit in CLIP_VALUES:
        clipped = {"finding": "clipped", "limits": f"±{limit:g}"}
        yield _of_finite(clipped, partial(np.clip, a_min=-limit, a_max=limit))
        yield _of_finite({**clipped, "limits": f"at most {limit:g}"}, partial(np.minimum, limit))
    for small in THRESHOLDS:
        run = taken("0", f"a gradient element below {small:g} in magnitude")
        yield _of_finite(run, lambda x, c=small: np.where(np.abs(x) < c, 0, x))  # type: ignore[misc]
    if subject.has_learning_rate:
        fed = _changing(lambda x: x if x.any() else None)
        run = taken("no gradient", "a whole gradient of zeros")
        yield Mistake(run=run, fed=fed, shown_by=_with_zeros_in_a_step)


def _with_zeros_in_a_step(case: Case) -> Iterator[Case]:
    """Yield the case with gradients of zeros in the middle, where a state may move a parameter on."""
    middle = len(case.grads) // 2
    if middle:
        zeros = case.mapped(grad=np.zeros_like).grads
        yield case.replace(grads=(*case.grads[:middle], zeros[middle], *case.grads[middle + 1 :]))


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
    return poisoned(case.upto(len(GROWTH)))


def replacing_nonfinite(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what NaN and infinities among gradients may be replaced by."""
    largest = FORMATS[dtype].largest
    nan, infinite, both = "NaN in gradients", "an infinity in gradients", "NaN and infinities in gradients"
    whole, spread = "a whole gradient with NaN or an infinity in it", "a whole gradient with NaN in it"
    changes: tuple[tuple[str, str, GradientChange], ...] = (
        ("0", infinite, lambda x: np.where(np.isinf(x), 0, x)),
        ("the largest number", infinite, lambda x: np.where(np.isinf(x), np.copysign(np.full_like(x, largest), x), x)),
        ("0", nan, lambda x: np.where(np.isnan(x), 0, x)),
        ("0", both, lambda x: np.where(np.isfinite(x), x, 0)),
        ("0 and the largest number", both, lambda x: np.nan_to_num(x, posinf=largest, neginf=-largest)),
        ("0", whole, lambda x: x if np.isfinite(x).all() else np.zeros_like(x)),
    )
    for new, old, change in changes:
        yield _of_nonfinite(taken(new, old), fed=_changing(change))
    step = "all gradients of a step with NaN or an infinity in one"
    yield _of_nonfinite(taken("0", step), fed=partial(_in_steps, np.zeros_like))
    if subject.has_learning_rate:
        fed = _changing(lambda x: x if np.isfinite(x).all() else None)
        yield _of_nonfinite(taken("no gradient", whole), fed=fed)
        yield _of_nonfinite(
            taken("no gradient", f"{whole}, though the update counts"),
            alteration=Alteration(update=_if_finite, by_place=True),
        )
        yield _of_nonfinite(taken("no gradient", step), fed=partial(_in_steps, lambda x: None))
        yield _of_nonfinite(taken("0", "NaN and infinities in steps"), alteration=Alteration(update=_finite_steps))
    if isinstance(subject, RuleSubject):
        for slot in subject.declaration.slots:
            run = {"finding": "guarded", "what": [slot]}
            yield _of_nonfinite(run, alteration=Alteration(update=partial(_guarded, slot)))
    yield _of_nonfinite(
        taken("NaN", spread), fed=_changing(lambda x: np.full_like(x, np.nan) if np.isnan(x).any() else x)
    )


def _in_steps(value: Callable[[Array], Array | None], case: Case) -> Case:
    """Put a value in place of all gradients of each step in which one is not finite."""
    changed = [any(x is not None and not np.isfinite(x).all() for x in row) for row in case.grads]
    steps = zip(case.grads, case.mapped(grad=value).grads, changed, strict=True)
    return case.replace(grads=tuple(new if replaced else old for old, new, replaced in steps)) if any(changed) else case


def _finite_steps(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Move no element by what is not a finite number; the state moves on."""
    after, new = rule.update(param, grad, state, lr, t)
    return np.where(np.isfinite(_numbers(after)), after, param), new


def _if_finite(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Do no update with a gradient in which a number is not finite."""
    return rule.update(param, grad, state, lr, t) if np.isfinite(_numbers(grad)).all() else (param, state)


def _guarded(slot: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Move only the elements whose number in a slot is above 0, and so none whose number is NaN; the state moves on."""
    after, new = rule.update(param, grad, state, lr, t)
    unknown = np.isnan(_numbers(new[slot]))
    if unknown.shape != param.shape:
        return after, new
    return np.where(unknown, param, np.where(new[slot] > 0, after, param)), new


def _numbers(array: Any) -> Array:
    return np.asarray(getattr(array, "value", array), np.float64)


def _of_finite(run: Mapping[str, str], change: Callable[[Array], Array]) -> Mistake:
    """Make a mistake of a change of finite elements alone, which gradients of all magnitudes show."""
    fed = _changing(lambda x: np.where(np.isfinite(x), change(x), x))
    return Mistake(run=run, fed=fed, shown_by=of_all_magnitudes)


def _of_nonfinite(run: Mapping[str, Any], **how: Any) -> Mistake:
    """Make a mistake that NaN and infinities show, and that is none where no law says so."""
    return Mistake(run=run, breaks=OF_NONFINITE, needs=OF_NONFINITE, shown_by=_poisoned, **how)


def _changing(change: GradientChange) -> Callable[[Case], Case]:
    """Change each gradient; a case in which that changes nothing stays itself, which is known."""

    def changed(grad: Array) -> Array | None:
        new = change(grad)
        return None if new is None else np.asarray(new).astype(grad.dtype)

    def fed(case: Case) -> Case:
        with np.errstate(all="ignore"):
            other = case.mapped(grad=changed)
        return case if other.content == case.content else other

    return fed
