"""Hooks into a run of the reference, so that most faults are one function in a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Memory, Start
from optimetry.conformance.targets.numpy.target import RuleRun, run_of
from optimetry.reference.declaration import Declared
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State

Grads = list[Array | None]


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """What a run does differently; by default nothing.

    Attributes:
        gradient: the gradient that is used, from the one that was given.
        grads: the same for the gradients of all parameters at once.
        rate: the learning rate that is used, from those of all steps so far.
        parameter: the parameter that is kept, from that before the step and that after it.
        slot: the state array that is kept, from that after the step.
        count: the number of updates that the rule is given, from the true one.
        returned: what the step returns, from the parameters after it.
    """

    gradient: Callable[[Array], Array] = lambda grad: grad
    grads: Callable[[Grads], Grads] = lambda grads: grads
    rate: Callable[[Sequence[float]], float] = lambda rates: rates[-1]
    parameter: Callable[[Array, Array], Array] = lambda before, after: after
    slot: Callable[[Array], Array] = lambda slot: slot
    count: Callable[[int], int] = lambda count: count
    returned: Callable[[list[Array]], Any] = lambda after: after


class HookedRun(RuleRun):
    """A run of the reference with hooks."""

    def __init__(self, rule: Rule, parameters: list[Array], hooks: Hooks) -> None:
        super().__init__(rule, parameters)
        self.hooks = hooks
        self.rates: list[float] = []

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Apply one update, with every hook in its place."""
        training, hooks = self.training, self.hooks
        self.rates.append(learning_rate)
        before, counts = [np.array(param) for param in training.parameters], training.updates
        used = hooks.grads([None if grad is None else hooks.gradient(grad) for grad in grads])
        training.updates = [hooks.count(count + 1) - 1 for count in counts]
        after = super().step(used, hooks.rate(self.rates))
        training.updates = [count + (grad is not None) for count, grad in zip(counts, used, strict=True)]
        kept = [np.asarray(hooks.parameter(*pair)) for pair in zip(before, after, strict=True)]
        training.parameters = [working(param) for param in kept]
        training.states = [
            State(**{slot: working(hooks.slot(np.array(array))) for slot, array in state.items()})
            for state in training.states
        ]
        returned: list[Array] = hooks.returned(kept)
        return returned


def rounded(array: Array, dtype: Any) -> Array:
    """Round an array to another dtype, and bring it back."""
    with np.errstate(over="ignore"):
        return array.astype(dtype).astype(array.dtype)


def alone(grads: Grads, i: int) -> Grads:
    """Return the gradients of a step with that of one parameter alone."""
    return [grad if i == j else None for j, grad in enumerate(grads)]


def dialect_of(rule: Declared, name: str) -> Any:
    """Return the dialect of a rule that has this name, with the rule's hyperparameters."""
    (dialect,) = (each for each in DIALECTS[rule.name] if each.name == name)
    return dialect.of(rule.hyper())


def hooked(dialect: str | None = None, **hooks: Any) -> Start:
    """Return a function that begins runs with these `Hooks`, of the documented rule or of a dialect."""
    chosen = Hooks(**hooks)

    def start(rule: Rule, parameters: list[Array], memory: Memory) -> HookedRun:
        return HookedRun(rule if dialect is None else dialect_of(rule, dialect), parameters, chosen)

    return start


def running(formula: Callable[[Any], Declared]) -> Start:
    """Return a function that begins runs of what is made of the documented formula."""
    return lambda documented, parameters, memory: run_of(formula(documented), parameters)


def computing_as(kind: type[Declared]) -> Start:
    """Return a function that begins runs of another formula, with the hyperparameters of the documented one."""
    return running(lambda documented: kind.of(documented.hyper()))


Change = Callable[[Any, Any, Any, int], tuple[Any, Any, Any]]
"""Returns the parameter, the gradient and the learning rate that an update gets, from them and its number."""


def changed(kind: type[Rule], change: Change) -> type[Rule]:
    """Return a rule whose every update gets something else."""

    class Changed(kind):  # type: ignore[misc,valid-type]
        """The rule with other inputs."""

        def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
            """Do one update."""
            other, fed, rate = change(param, grad, lr, t)
            updated: tuple[Any, State] = super().update(other, fed, state, rate, t)
            return updated

    return Changed


def of_dialect(name: str) -> Start:
    """Return a function that begins runs of a dialect."""
    return running(lambda documented: dialect_of(documented, name))


def skipping_elements(skipped: Callable[[int], int | slice], least: int = 0) -> Start:
    """Runs that leave these elements, given a size, as they were in parameters of at least so many."""

    def parameter(before: Array, after: Array) -> Array:
        kept = after.copy()
        if after.size >= least:
            kept.flat[skipped(after.size)] = before.flat[skipped(after.size)]
        return kept

    return hooked(parameter=parameter)


def skipping_tensors(skipped: Callable[[int, int], bool]) -> Start:
    """Runs that never update these parameters, given an index and how many there are."""
    return hooked(grads=lambda grads: [None if skipped(i, len(grads)) else grad for i, grad in enumerate(grads)])
