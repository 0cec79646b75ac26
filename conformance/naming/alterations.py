"""Declares alterations: what a run does to a formula's parameters and state that the formula does not say.

An altered formula is a formula: it is evaluated on any numbers, so the rounding bound decides about it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from optimetry.conformance.naming.coupling import coupled_decay, strength_of
from optimetry.conformance.subjects.rules import OWN, STEP_COUNT, SharedCount
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.training import Training

Step = Callable[[Sequence[Array | None], Any], list[Array]]
"""One step of a training: the parameters after it, from gradients and learning rate."""

Begin = Callable[[Rule, Array], State]
"""Returns the state of a parameter before the first step."""

Update = Callable[[Rule, Array, Array, State, Any, int], tuple[Array, State]]
"""Does one update of one parameter, from what `Rule.update` takes."""

Feed = Callable[[Wrapper, Sequence[Array], Sequence[Array], Any], tuple[list[Array], Any]]
"""Does one step of a wrapper, from what `Wrapper.feed` takes."""


Stepping = Callable[["AlteredTraining", Step, Sequence[Any], Any], list[Any]]
"""Does one step of all parameters; the `Step` that it is passed does it as documented, with its own `Update`."""


@dataclass(frozen=True, eq=False)
class Alteration:
    """What a run does otherwise; by itself nothing.

    Attributes:
        initial: how the state of a parameter begins.
        update: what an update of one parameter is.
        step: what a step of all parameters is.
        feed: what a step of a wrapper is.
        by_place: whether it depends on the place of an element in its tensor, or of a tensor among the others.
    """

    initial: Begin = lambda rule, param: rule.initial_state(param)
    update: Update = lambda rule, *inputs: rule.update(*inputs)
    step: Stepping = lambda training, plain, grads, lr: plain(grads, lr)
    feed: Feed = lambda wrapper, *inputs: wrapper.feed(*inputs)
    by_place: bool = False

    @property
    def changes(self) -> frozenset[str]:
        """What is different."""
        names = ("initial", "update", "step", "feed")
        return frozenset(name for name in names if getattr(self, name) is not getattr(Alteration, name))


class AlteredTraining(Training):
    """Steps of an altered rule.

    Attributes:
        memory: what the alteration keeps from one step to the next.
    """

    def __init__(self, rule: Rule, parameters: Sequence[Array]) -> None:
        super().__init__(rule, parameters)
        self.memory: dict[Any, Any] = {}

    def step(self, grads: Sequence[Array | None], lr: Any) -> list[Array]:
        """One step, as the alteration does it."""
        alteration: Alteration = cast(Any, self.rule).alteration
        return alteration.step(self, super().step, grads, lr)


class AlteredSharedTraining(AlteredTraining, SharedCount):
    """The same of a rule whose steps are counted for all parameters together."""


def step_of(rule: Rule, param: Array, grad: Array, state: State, lr: Any, t: int) -> Array:
    """Return what an update takes off a parameter, but for a decay apart from the gradient: that of one that is 0."""
    undecayed, grad = without_decay(rule), with_decay(rule, param, grad)
    return -undecayed.update(param * 0.0, grad, state, lr, t)[0]


def without_decay(rule: Rule) -> Rule:
    """Return a rule without the decay that it adds to the gradient; the rule itself where it adds none."""
    name = _decay_of(rule)
    return rule.with_values({name: 0.0}) if name else rule


def with_decay(rule: Rule, param: Array, grad: Array) -> Array:
    """Return a gradient with the decay that a rule adds to it; the gradient itself where it adds none."""
    name = _decay_of(rule)
    return grad + strength_of(rule, name) * param if name else grad


def _decay_of(rule: Rule) -> str | None:
    return coupled_decay(rule.innermost if isinstance(rule, Altered) else rule)


def remembering(update: Callable[..., tuple[Array, State, Array]]) -> Alteration:
    """Return an alteration of the updates of a parameter that keeps an array from one to the next, 0 at first.

    Args:
        update: does one update, from what was kept and what `Update` takes, and returns also what is kept.
    """

    def initial(rule: Rule, param: Array) -> State:
        return _keeping(rule.initial_state(param), np.zeros_like(param))

    def altered_update(rule: Rule, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        *own, kept = state.items()
        after, new, kept_on = update(kept[1], rule, param, grad, State(**dict(own)), lr, t)
        return after, _keeping(new, kept_on)

    return Alteration(initial=initial, update=altered_update)


def _keeping(state: State, array: Array) -> State:
    """Return a state with one array more, its last."""
    return State(**state, **{f"kept_behind_{len(state)}": array})


def with_gradients(grads: Sequence[Any]) -> list[int]:
    """Return the numbers of the parameters that have a gradient in a step."""
    return [i for i, grad in enumerate(grads) if grad is not None]


def without_gradients(grads: Sequence[Any]) -> list[int]:
    """Return the numbers of the other parameters."""
    return [i for i, grad in enumerate(grads) if grad is None]


@dataclass(frozen=True, eq=False)
class Altered:
    """A formula with an alteration, in the place of a formula.

    Attributes:
        formula: a rule or a wrapper.
        alteration: what is different.
    """

    formula: Any
    alteration: Alteration

    @property
    def training(self) -> type[AlteredTraining]:
        """What does its steps, which are counted as the formula says."""
        return AlteredTraining if getattr(self.formula, STEP_COUNT, OWN) == OWN else AlteredSharedTraining

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.formula, name)

    @property
    def elementwise(self) -> bool:
        """Whether an element of the result depends on the same element of the inputs alone, wherever it stands."""
        return bool(self.formula.elementwise) and not self.alteration.by_place

    @property
    def innermost(self) -> Any:
        """The formula without this alteration, and those within it."""
        return self.formula.innermost if isinstance(self.formula, Altered) else self.formula

    def lifted(self, lift: Callable[[str, float], Any]) -> Altered:
        """The same with each real hyperparameter replaced."""
        return Altered(self.formula.lifted(lift), self.alteration)

    def with_values(self, values: Mapping[str, Any]) -> Altered:
        """The same with other values of some hyperparameters, which are not checked."""
        return Altered(self.formula.with_values(values), self.alteration)

    def initial_state(self, param: Array) -> State:
        """The state before the first step."""
        return self.alteration.initial(self.formula, param)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update of a rule."""
        return self.alteration.update(self.formula, param, grad, state, lr, t)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """One step of a wrapper."""
        return self.alteration.feed(self.formula, fed, parameters, state)


def altered(formula: Declared, alteration: Alteration | None) -> Declared:
    """Return a formula with an alteration; the formula itself without one."""
    return formula if alteration is None else cast(Declared, Altered(formula, alteration))


def joined(inner: Alteration | None, outer: Alteration | None) -> Alteration | None:
    """Return both as one; the outer one alters what the inner one makes of a formula."""
    if inner is None or outer is None:
        return inner or outer
    return Alteration(
        initial=lambda rule, param: outer.initial(cast(Any, altered(rule, inner)), param),
        update=lambda rule, *inputs: outer.update(cast(Any, altered(rule, inner)), *inputs),
        step=lambda training, plain, *inputs: outer.step(training, partial(_within, inner, training, plain), *inputs),
        feed=lambda wrapper, *inputs: outer.feed(cast(Any, altered(wrapper, inner)), *inputs),
        by_place=inner.by_place or outer.by_place,
    )


def _within(alteration: Alteration, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Do the step of an alteration within another, with a memory of its own."""
    outside = training.memory
    training.memory = outside.setdefault(alteration, {})
    try:
        return alteration.step(training, plain, grads, lr)
    finally:
        training.memory = outside
