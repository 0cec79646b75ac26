"""Lists numbers held in less precision than the parameters have: slots, parameters, steps, gradients, hyperparameters.

A number that is stored in a format is known exactly where all that rounding allows becomes one number of that format:
the bound does not grow by a unit of the format, and a slot that merely is inexact is not taken for one in float16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import missing_gradient
from optimetry.conformance.laws.variations import rescaled
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Rule, State

NARROWER = {"float32": ("float16", "bfloat16"), "float64": ("float16", "bfloat16", "float32")}
"""The formats with less precision that are tried beside each dtype."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be held in less precision."""
    for name in NARROWER.get(dtype, ()):
        yield _rounding("gradients", name, fed=_with_gradients(through(name)))
        if name != "float32":  # which is arithmetic of the rule, with a name of its own
            yield from _numbers(subject, name)
        if isinstance(subject, RuleSubject):
            slots = subject.declaration.slots
            chosen = dict.fromkeys([*((slot,) for slot in slots), slots] if slots else [])
            for start in (True, False):
                yield from (_holding(list(each), name, Slots(each, name, start)) for each in chosen)
                yield _holding(["the parameters"], name, Parameters(name), _started(through(name)) if start else None)
            yield _rounding("each step", name, alteration=Steps(name))
        else:
            yield _holding(["its state"], name, WrapperState(name))
            yield _rounding("what it returns", name, alteration=Results(name))


def _holding(
    held: Sequence[str], name: str, alteration: Alteration, fed: Callable[[Case], Case] | None = None
) -> Mistake:
    run = {"finding": "held", "what": list(held), "format": name}
    return Mistake(run=run, alteration=alteration, fed=fed or (lambda case: case), breaks=(missing_gradient,))


def _rounding(rounded: str, name: str, **how: Any) -> Mistake:
    return Mistake(run={"finding": "rounded", "what": [rounded], "format": name}, **how)


def through(name: str) -> Callable[[Array], Array]:
    """Return a function that rounds an array to a format and back."""

    def rounded(array: Array) -> Array:
        with np.errstate(all="ignore"):
            return array.astype(FORMATS[name].dtype).astype(array.dtype)

    return rounded


def _started(change: Callable[[Array], Array]) -> Callable[[Case], Case]:
    return lambda case: rescaled(case, change, lambda grad: grad)


def _with_gradients(change: Callable[[Array], Array]) -> Callable[[Case], Case]:
    return lambda case: rescaled(case, lambda param: param, change)


def _numbers(subject: Subject, name: str) -> Iterator[Mistake]:
    """Yield the numbers of a subject, rounded: its hyperparameters, the learning rate, or both."""
    real = [parameter.name for parameter in subject.hyperparameters() if parameter.kind is float]
    held = through(name)

    def rounded(number: float) -> float:
        return float(held(np.asarray(number, np.float64)))

    def hyper(values: Any) -> dict[str, float]:
        return {number: rounded(values[number]) for number in real}

    def fed(case: Case) -> Case:
        return case.replace(learning_rates=tuple(map(rounded, case.learning_rates)))

    if real:
        yield _rounding("its hyperparameters", name, hyper=hyper)
    if subject.has_learning_rate:
        yield _rounding("the learning rate", name, fed=fed)
    if real and subject.has_learning_rate:
        run = {"finding": "rounded", "what": ["its hyperparameters", "the learning rate"], "format": name}
        yield Mistake(run=run, hyper=hyper, fed=fed)


def stored(number: Any, name: str) -> Any:
    """Round a number of any kind to a format and back, as storage does.

    A `Bounded` one is known exactly where all within reach rounds to one number. Rounding is monotone, so the ends
    bound what lies between them. For an evaluation that regroups, the slack times the bound is within reach.
    """
    held = through(name)
    if not isinstance(number, Bounded):
        return held(np.asarray(number))
    reach = SLACK * number.bound
    with np.errstate(all="ignore"):
        ends = (number.value, number.value - reach, number.value + reach)
        value, low, high = (held(x.astype(np.float64)).astype(x.dtype) for x in ends)
        return Bounded(value, np.maximum(high - value, value - low), number.form, number.nonnegative)


@dataclass(frozen=True)
class Slots(Alteration):
    """Holds slots in a format between steps.

    Attributes:
        slots: which.
        format: its name.
        from_the_start: whether the first step, too, begins with rounded slots.
    """

    slots: tuple[str, ...]
    format: str
    from_the_start: bool

    def initial(self, rule: Rule, param: Any) -> State:
        """Round the state before the first step."""
        state = rule.initial_state(param)
        return self._held(state) if self.from_the_start else state

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Round the state behind the step."""
        after = plain(grads, lr)
        training.states = [self._held(state) for state in training.states]
        return after

    def _held(self, state: State) -> State:
        return State(**{slot: stored(x, self.format) if slot in self.slots else x for slot, x in state.items()})


@dataclass(frozen=True)
class Parameters(Alteration):
    """Holds parameters in a format between steps."""

    format: str

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Round the parameters behind the step."""
        training.parameters = [stored(param, self.format) for param in plain(grads, lr)]
        return list(training.parameters)


@dataclass(frozen=True)
class Steps(Alteration):
    """Rounds the difference that a step makes to a format."""

    format: str

    def update(self, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Add the rounded difference."""
        after, state = rule.update(param, grad, state, lr, t)
        return param + stored(after - param, self.format), state


@dataclass(frozen=True)
class WrapperState(Alteration):
    """Holds the arrays that a wrapper keeps in a format."""

    format: str

    def feed(self, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
        """Round what is kept; numbers beside the arrays stay."""
        returned, state = wrapper.feed(fed, parameters, state)
        return returned, self._held(state)

    def _held(self, state: Any, of_parameters: bool = False) -> Any:
        if isinstance(state, tuple | list):
            parts = [self._held(part, of_parameters or isinstance(state, list)) for part in state]
            return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
        return stored(state, self.format) if of_parameters and isinstance(state, Bounded) else state


@dataclass(frozen=True)
class Results(Alteration):
    """Rounds what a wrapper returns to a format."""

    format: str

    def feed(self, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
        """Round the result."""
        returned, state = wrapper.feed(fed, parameters, state)
        return [stored(each, self.format) for each in returned], state
