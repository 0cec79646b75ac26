"""Evaluates a subject on a case: the expected value, and the bound of a working-precision evaluation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.environment import default_environment
from optimetry.conformance.numerics.formats import FORMATS, Format, scalar_format
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Declared

UNDERFLOW_ROOM = 2.0**10
"""How much larger underflow errors of regrouped arithmetic may be than those of the formula as written.

``lr * grad / root`` and ``lr * (grad / root)`` differ by rounding alone, but a subnormal product in the first is
divided by the root, and one in the second is not. No constant slack covers that, so each underflow has this much room:
2^-140 in float32, where flushing subnormals to zero shows at 2^-126. float16 and bfloat16 have no such room to give.
"""


KEPT = 2**16
"""The most numbers, of all steps, that a case may have for its evaluation to be kept."""


def expected(
    case: Case, computed: Declared | None = None, form: Format | None = None, narrow: tuple[str, ...] = ()
) -> Expected:
    """Evaluate a subject on `Bounded` numbers; the latest evaluations of small cases are kept.

    Args:
        case: what the subject is fed.
        computed: another formula to evaluate, such as a dialect; the documented one by default.
        form: another format to bound the rounding of, such as one without subnormals.
        narrow: real hyperparameters, and perhaps `LEARNING_RATE`, that may have been rounded to float32 wherever they
            are used.
    """
    evaluate = kept if case.size * len(case.grads) <= KEPT else _evaluated
    return evaluate(case, computed, form, narrow)


def _evaluated(case: Case, computed: Declared | None, form: Format | None, narrow: tuple[str, ...]) -> Expected:
    subject, form = subject_of(case), form or with_underflow_room(case.form)
    numbers = BoundedNumbers(subject, form, narrow)
    joined, columns = _together(case, subject.elementwise and (computed is None or computed.elementwise))
    value = np.empty((len(case.grads), case.size), form.wide)
    bound = np.empty_like(value)
    with default_environment():
        for step, arrays in enumerate(subject.trajectory(joined, numbers, computed)):
            for array, column in zip(arrays, columns, strict=True):
                value[step, column], bound[step, column] = array.value.reshape(-1), array.bound.reshape(-1)
    return Expected(value, bound, flat(subject.magnitudes(case)).astype(np.float64))


kept = lru_cache(maxsize=2048)(_evaluated)
"""The latest evaluations, of cases with at most `KEPT` numbers: those of all candidates for one target, so that the
next engine, or the next target of the same rule, finds them again. Most take some kilobytes."""


@dataclass(frozen=True)
class BoundedNumbers:
    """Numbers with a running bound, as a working-precision evaluation of a subject may hold them.

    Attributes:
        subject: whose numbers they are.
        form: the format whose rounding is bounded.
        narrow: the real numbers that may be held in float32.
    """

    subject: Subject
    form: Format
    narrow: tuple[str, ...] = ()

    def array(self, array: Array) -> Bounded:
        """Make an exact input."""
        return Bounded.exact(array, self.form)

    def scalar(self, name: str, number: float) -> Bounded:
        """Make a hyperparameter or a learning rate, which may be held as given or rounded to the scalars' format.

        What is computed of nothing but such as may be held in float32 may be computed there, too.
        """
        return _scalar(number, math.copysign(1.0, number), self.form, name in self.narrow, name in self.decays)

    @cached_property
    def decays(self) -> set[str]:
        """Return the hyperparameters that weigh an average."""
        return decays_of(self.subject)


def decays_of(subject: Subject) -> set[str]:
    """Return the hyperparameters that weigh an average: those from 0 to 1."""
    return {x.name for x in subject.hyperparameters() if x.domain is not None and x.domain.ends == (0.0, 1.0)}


@lru_cache(maxsize=1024)
def _scalar(number: float, sign: float, form: Format, narrow: bool, is_decay: bool) -> Bounded:
    """Make a number for arrays of a format; with its sign, as 0.0 and -0.0 are equal to the cache."""
    scalars = scalar_format(form)
    held_in = FORMATS["float32"] if narrow else scalars
    held = Bounded.scalar(number, held_in)
    bound = held.bound
    if is_decay:  # an average as `g + b*(m - g)` has b from 1 - b, which is what it may hold
        bound = np.maximum(bound, Bounded.scalar(1 - held.value, held_in).bound)
    value, bound = held.value.astype(form.wide), bound.astype(form.wide)
    return Bounded(value, bound, scalars, scalars_in=held_in).remembering()


@cache
def with_underflow_room(form: Format) -> Format:
    """Return the format with `UNDERFLOW_ROOM`, if it has any to give."""
    roomy = form.roundoff <= FORMATS["float32"].roundoff
    return dataclasses.replace(form, half_tiny=form.half_tiny * UNDERFLOW_ROOM) if roomy else form


def _groups(case: Case, elementwise: bool) -> Iterator[list[int]]:
    """Group parameters to evaluate as one: where elements are independent, all that miss the same gradients."""
    if not elementwise:
        yield from ([i] for i in range(len(case.parameters)))
        return
    groups: dict[tuple[bool, ...], list[int]] = {}
    for i in range(len(case.parameters)):
        groups.setdefault(tuple(grads[i] is None for grads in case.grads), []).append(i)
    yield from groups.values()


@lru_cache(maxsize=256)
def _together(case: Case, elementwise: bool) -> tuple[Case, list[Any]]:
    """Return the case with each group of parameters joined into one, and the columns of each."""
    groups = list(_groups(case, elementwise))
    return _joined(case, groups), [_columns(case, group) for group in groups]


def _joined(case: Case, groups: list[list[int]]) -> Case:
    """Return the case with each group of parameters joined into one."""
    if all(len(group) == 1 for group in groups):
        return case.only([group[0] for group in groups])

    def together(arrays: Sequence[Array | None], group: list[int]) -> Array | None:
        chosen = [array for array in (arrays[i] for i in group) if array is not None]
        return flat(chosen) if chosen else None

    return case.replace(
        parameters=tuple(x for group in groups if (x := together(case.parameters, group)) is not None),
        grads=tuple(tuple(together(grads, group) for group in groups) for grads in case.grads),
    )


def _columns(case: Case, group: list[int]) -> Any:
    starts = np.cumsum([0, *(param.size for param in case.parameters)])
    return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in group])
