"""Evaluates a subject on a case: the expected value, and the bound of a working-precision evaluation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import BOUND, FORMATS, Format, combining, scalar_format
from optimetry.conformance.numerics.summand import Summand
from optimetry.conformance.oracle.joined import together
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
    case: Case,
    computed: Declared | None = None,
    form: Format | None = None,
    narrow: tuple[str, ...] = (),
    combined: bool = False,
) -> Expected:
    """Evaluate a subject on `Bounded` numbers; the latest evaluations of small cases are kept.

    Args:
        case: what the subject is fed.
        computed: another formula to evaluate, such as a dialect; the documented one by default.
        form: another format to bound the rounding of, such as one without subnormals.
        narrow: real hyperparameters, and perhaps `LEARNING_RATE`, that may have been rounded to float32 wherever they
            are used.
        combined: whether these may also be combined in float32 before they meet an array.
    """
    evaluation = evaluation_of(Asked(case, computed, form, narrow, combined))
    evaluation.begin()  # what cannot be evaluated shows at once
    return evaluation


class Asked(NamedTuple):
    """The arguments of a call of `expected`."""

    case: Case
    computed: Declared | None = None
    form: Format | None = None
    narrow: tuple[str, ...] = ()
    combined: bool = False


def evaluation_of(asked: Asked) -> Evaluation:
    """Return the kept evaluation, or a new one that has not begun."""
    case = asked.case
    return kept_evaluation(asked) if case.elements <= KEPT else _not_begun(asked)


def _not_begun(asked: Asked) -> Evaluation:
    case, form = asked.case, with_underflow_room(asked.form or asked.case.form)
    return Evaluation(case, asked.computed, BoundedNumbers(subject_of(case), form, asked.narrow, asked.combined))


kept_evaluation = lru_cache(maxsize=2048)(_not_begun)
"""The latest evaluations, of cases with at most `KEPT` numbers: those of all candidates for one target, so that the
next engine, or the next target of the same rule, finds them again. Most take some kilobytes."""


@dataclass
class _Rows:
    """The steps of a trajectory that have been evaluated so far.

    Attributes:
        begin: starts the trajectory: what it yields are the arrays after each step.
        columns: where the elements of each array stand in a row.
        value: as in `Expected`; rows from ``done`` on are not filled yet.
        bound: the same.
        done: the number of evaluated steps.
    """

    begin: Callable[[], Iterator[Sequence[Any]]]
    columns: Sequence[Any]
    value: Any
    bound: Any
    done: int = 0
    remaining: Iterator[Sequence[Any]] | None = None

    def upto(self, step: int) -> _Rows:
        """Evaluate the steps before this one."""
        if step > self.done:
            with default_environment():
                try:
                    self._fill(step)
                except BaseException:
                    self.remaining, self.done = None, 0  # so that the same is raised again
                    raise
        return self

    def _fill(self, step: int) -> None:
        remaining = self.remaining = self.remaining or self.begin()
        for row in range(self.done, step):
            for array, column in zip(next(remaining), self.columns, strict=True):
                self.value[row, column], self.bound[row, column] = array.value.reshape(-1), array.bound.reshape(-1)
            self.done = row + 1
        if self.done == len(self.value):
            self.remaining = None  # its arrays are needed no more


class Evaluation(Expected):
    """An expected value that is evaluated step by step, as far as it is asked for.

    Most formulas that do not explain a trajectory differ in the first steps, and need no more to be excluded.

    Args:
        case: what the subject is fed.
        computed: the formula; the documented one where None.
        numbers: what its numbers become.

    Attributes:
        elementwise: whether an element of the result depends on the same element of the inputs alone.
    """

    case: Case
    computed: Declared | None
    numbers: BoundedNumbers
    elementwise: bool

    def __init__(self, case: Case, computed: Declared | None, numbers: BoundedNumbers) -> None:
        elementwise = numbers.subject.elementwise and (computed is None or computed.elementwise)
        vars(self).update(case=case, computed=computed, numbers=numbers, elementwise=elementwise)

    @cached_property
    def start(self) -> Array:
        """The magnitude of the parameters before the first step."""
        return flat(self.numbers.subject.magnitudes(self.case)).astype(np.float64)

    @cached_property
    def _rows(self) -> _Rows:
        joined, columns = together(self.case, self.elementwise)
        value, bound = self.empty()
        begin = partial(self.numbers.subject.trajectory, joined, self.numbers, self.computed)
        return _Rows(begin, columns, value, bound)

    def empty(self) -> tuple[Array, Array]:
        """Make arrays for the values and the bounds of all steps."""
        shape = len(self.case.grads), self.case.size
        return np.empty(shape, self.numbers.form.wide), np.empty(shape, BOUND)

    def begin(self) -> None:
        """Evaluate the first step, unless that is done."""
        self._rows.upto(min(1, len(self._rows.value)))

    @property
    def begun(self) -> bool:
        """Whether any step has been evaluated."""
        return "_rows" in vars(self)

    def fill(self, value: Array, bound: Array) -> None:
        """Take over the values and the bounds of all steps, which were evaluated together with those of other cases."""
        vars(self)["_rows"] = _Rows(lambda: iter(()), (), value, bound, len(value))

    @property
    def value(self) -> Any:
        """The values of all steps."""
        return self._rows.upto(len(self._rows.value)).value

    @property
    def bound(self) -> Any:
        """The bounds of all steps."""
        return self._rows.upto(len(self._rows.bound)).bound

    def steps(self, first: int, behind: int) -> Expected:
        """Return the expected value of some steps alone, and evaluate no more than those before them."""
        rows = self._rows.upto(min(behind, len(self._rows.value)))
        return Expected(rows.value[first:behind], rows.bound[first:behind], self.start)


@dataclass(frozen=True)
class BoundedNumbers:
    """Numbers with a running bound, as a working-precision evaluation of a subject may hold them.

    Attributes:
        subject: whose numbers they are.
        form: the format whose rounding is bounded.
        narrow: the real numbers that may be held in float32.
        combined: whether these may also be combined there before they meet an array.
    """

    subject: Subject
    form: Format
    narrow: tuple[str, ...] = ()
    combined: bool = False

    def array(self, array: Array) -> Bounded:
        """Make an exact input."""
        number = Bounded.exact(array, self.form)
        return Summand.of(number) if self.subject.adds_up else number

    def scalar(self, name: str, number: float) -> Bounded:
        """Make a hyperparameter or a learning rate, which may be held as given or rounded to the scalars' format.

        What is computed only from numbers that may be held in float32 may be computed there, too.
        """
        held_in = FORMATS["float32"] if name in self.narrow else scalar_format(self.form)
        combined = self.combined and name in self.narrow
        return _scalar(
            number, math.copysign(1.0, number), self.form, held_in, combined, name in decays_of(self.subject)
        )


@cache
def decays_of(subject: Subject) -> frozenset[str]:
    """Return the hyperparameters that weigh an average: those from 0 to 1."""
    return frozenset(x.name for x in subject.hyperparameters() if x.domain is not None and x.domain.ends == (0.0, 1.0))


@lru_cache(maxsize=1024)
def _scalar(number: float, sign: float, form: Format, held_in: Format, combined: bool, is_decay: bool) -> Bounded:
    """Make a number for arrays of a format; with its sign, as 0.0 and -0.0 are equal to the cache."""
    scalars = scalar_format(form)
    held = Bounded.scalar(number, held_in)
    bound = held.bound
    if is_decay:  # an average as `g + b*(m - g)` may hold 1 - b, from which b follows
        bound = np.maximum(bound, Bounded.scalar(1 - held.value, held_in).bound)
    scalars_in = combining(held_in) if combined else held_in
    return Bounded(held.value.astype(form.wide), bound, scalars, scalars_in=scalars_in).remembering()


def forget() -> None:
    """Forget the hyperparameters and learning rates of earlier cases, with all that was computed of them."""
    _scalar.cache_clear()


@cache
def with_underflow_room(form: Format) -> Format:
    """Return the format with `UNDERFLOW_ROOM`, if it has any to give; one that flushes subnormals has more."""
    roomy = form.roundoff <= FORMATS["float32"].roundoff and not form.flushes
    with default_environment():  # elsewhere, `tiny` may count as 0
        half_tiny = np.asarray(form.tiny * (UNDERFLOW_ROOM / 2))
    return dataclasses.replace(form, half_tiny=half_tiny) if roomy else form
