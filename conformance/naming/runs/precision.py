"""Lists numbers held in less precision than the parameters have: slots, parameters, steps, gradients, hyperparameters.

A number that is stored in a format is known exactly where all that rounding allows becomes one number of that format:
the bound does not grow by a unit of the format, and a slot that merely is inexact is not taken for one in float16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import missing_gradient
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake, Run, with_rates
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array, same_bits
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
        narrowed = partial(Case.mapped, grad=through(name))
        yield _rounding(["gradients"], name, fed=narrowed, seen=partial(_does_the_same, narrowed))
        if name != "float32":  # which is arithmetic of the rule, with a name of its own
            yield from _numbers(subject, name)
        if isinstance(subject, RuleSubject):
            chosen = sets_of_slots(subject)
            parameters = Alteration(step=partial(_parameters_held, name))
            for start in (True, False):
                yield from (_holding(each, name, alteration=slots_held(each, name, start)) for each in chosen)
                fed = {"fed": partial(Case.mapped, param=through(name))} if start else {}
                yield _holding(["the parameters"], name, alteration=parameters, **fed)
            rounding = Alteration(update=partial(_step_rounded, name))
            yield _rounding(["each step"], name, alteration=rounding, seen=partial(steps_to, name))
        else:
            yield _holding(["its state"], name, alteration=Alteration(feed=partial(_wrapper_state_held, name)))
            yield _rounding(["what it returns"], name, alteration=Alteration(feed=partial(_results_rounded, name)))


def sets_of_slots(subject: RuleSubject) -> list[tuple[str, ...]]:
    """Return each slot of a rule alone, and all together."""
    slots = subject.declaration.slots
    return list(dict.fromkeys([*((slot,) for slot in slots), slots])) if slots else []


def _holding(what: Sequence[str], name: str, **how: Any) -> Mistake:
    return Mistake(run={"finding": "held", "what": list(what), "format": name}, breaks=(missing_gradient,), **how)


def _rounding(what: Sequence[str], name: str, **how: Any) -> Mistake:
    return Mistake(run={"finding": "rounded", "what": list(what), "format": name}, **how)


def _does_the_same(fed: Callable[[Case], Case], run: Run, cases: Iterable[Case]) -> bool:
    """Whether a target does with what is rounded already what it does with cases; not asked where that overflows."""
    pairs = ((case, fed(case)) for case in cases)
    finite = ((case, rounded) for case, rounded in pairs if all(np.isfinite(array).all() for array in rounded.arrays))
    return all(same_bits(run(case), run(rounded)) for case, rounded in finite)


def steps_to(name: str, run: Run, cases: Iterable[Case]) -> bool:
    """Whether a format holds what first steps make of parameters that are 0."""
    steps = (run(case.upto(1).mapped(param=np.zeros_like)) for case in cases)
    return all(FORMATS[name].holds(after[np.isfinite(after)]) for after in steps)


def through(name: str) -> Callable[[Array], Array]:
    """Return a function that rounds an array to a format and back."""

    def rounded(array: Array) -> Array:
        with np.errstate(all="ignore"):
            return array.astype(FORMATS[name].dtype).astype(array.dtype)

    return rounded


def _numbers(subject: Subject, name: str) -> Iterator[Mistake]:
    """Yield the numbers of a subject, rounded: its hyperparameters, the learning rate, or both."""
    real = [parameter.name for parameter in subject.hyperparameters() if parameter.kind is float]
    held = through(name)

    def rounded(number: float) -> float:
        return float(held(np.asarray(number, np.float64)))

    def hyper(values: Any) -> dict[str, float]:
        return {number: rounded(values[number]) for number in real}

    fed = with_rates(lambda rates: tuple(map(rounded, rates)))
    if real:
        yield _rounding(["its hyperparameters"], name, hyper=hyper)
    if subject.has_learning_rate:
        yield _rounding(["the learning rate"], name, fed=fed)
    if real and subject.has_learning_rate:
        yield _rounding(["its hyperparameters", "the learning rate"], name, hyper=hyper, fed=fed)


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


def slots_held(slots: Sequence[str], name: str, from_the_start: bool) -> Alteration:
    """Hold slots in a format between steps, perhaps from before the first step on."""

    def held(state: State) -> State:
        return State(**{slot: stored(x, name) if slot in slots else x for slot, x in state.items()})

    def initial(rule: Rule, param: Any) -> State:
        return held(rule.initial_state(param))

    def step(training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        after = plain(grads, lr)
        training.states = [held(state) for state in training.states]
        return after

    return Alteration(initial, step=step) if from_the_start else Alteration(step=step)


def _parameters_held(name: str, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
    """Hold parameters in a format between steps."""
    training.parameters = [stored(param, name) for param in plain(grads, lr)]
    return list(training.parameters)


def _step_rounded(name: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Round the difference that a step makes to a format."""
    after, state = rule.update(param, grad, state, lr, t)
    return param + stored(after - param, name), state


def _wrapper_state_held(name: str, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
    """Hold the arrays that a wrapper keeps in a format; numbers beside them stay."""
    returned, state = wrapper.feed(fed, parameters, state)
    return returned, _arrays_held(state, name)


def _arrays_held(state: Any, name: str, of_parameters: bool = False) -> Any:
    if isinstance(state, tuple | list):
        parts = [_arrays_held(part, name, of_parameters or isinstance(state, list)) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    return stored(state, name) if of_parameters and isinstance(state, Bounded) else state


def _results_rounded(name: str, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
    """Round what a wrapper returns to a format."""
    returned, state = wrapper.feed(fed, parameters, state)
    return [stored(each, name) for each in returned], state
