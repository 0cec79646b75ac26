"""The parts of every optimizer beside its step: checked arguments, a learning rate, a state, a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.accumulators import Accumulators, ParameterLike, checked_gradient
from optimetry.reference.arguments import (
    checked_clip,
    checked_flag,
    checked_name,
    checked_regularizer,
    checked_weight_decay,
    each_once,
)
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.eager_updates import EagerUpdates
from optimetry.reference.errors import ArgumentError, StateError
from optimetry.reference.explain import explained
from optimetry.reference.learning_rate import LearningRate
from optimetry.reference.programs.program import is_float
from optimetry.reference.programs.updates import ProgramUpdates
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.schedulers import Scheduler
from optimetry.reference.sparse import SparseRows
from optimetry.reference.states import check_mapping


class NoRule(Rule):
    """A placeholder for the rule of an `Optimizer` that has none."""

    name = "optimizer"

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """Raise an error: there is no rule."""
        raise ArgumentError("optimizer: the base class Optimizer has no update rule; give it `rule`, or use a subclass")


@dataclass(frozen=True)
class Valued:
    """A parameter with a value, be it of a program or eager."""

    name: str
    value: Any
    trainable: bool
    regularizer: Any
    learning_rate: float

    @classmethod
    def of(cls, parameter: Any, value: Any) -> Valued:
        """The parameter with this value, which is not kept in it."""
        return cls(parameter.name, value, parameter.trainable, parameter.regularizer, parameter.learning_rate)


class OptimizerCore(ABC):
    """The arguments, the learning rate and the state of an `Optimizer`, which documents them."""

    lazy = False
    takes_sparse = True

    def __init__(
        self,
        learning_rate: Any,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: GradientClipBase | None = None,
        name: str | None = None,
        *,
        rule: Rule | None = None,
        multi_precision: bool = False,
    ) -> None:
        self.rule = NoRule() if rule is None else rule
        self.label = self.rule.name
        self._learning_rate = LearningRate(self.label, learning_rate)
        self.regularization = checked_weight_decay(self.label, weight_decay)
        self.grad_clip = checked_clip(self.label, grad_clip)
        self.name = checked_name(self.label, name)
        self.parameter_list = None if parameters is None else each_once(self.label, parameters)
        multi_precision = checked_flag(self.label, "multi_precision", multi_precision)
        self._accumulators = Accumulators(self.rule, multi_precision, self.lazy)
        self._eager = EagerUpdates(self._accumulators, self._learning_rate, self.parameter_list or ())
        self._in_programs = ProgramUpdates(self._accumulators, self._learning_rate, self.rule_for, self._gradient)

    # Learning rate.

    def get_lr(self) -> float:
        """The learning rate of the present step."""
        return self._learning_rate.current()

    current_step_lr = get_lr

    def set_lr(self, value: Any) -> None:
        """Set the learning rate to a number or a variable.

        Raises:
            SchedulerInUseError: a scheduler sets it (a RuntimeError).
        """
        self._learning_rate.set(value)

    def set_lr_scheduler(self, scheduler: Scheduler) -> None:
        """Let a scheduler set the learning rate, in place of a number or another scheduler."""
        self._learning_rate.set_scheduler(scheduler)

    # State.

    def state_dict(self) -> dict[str, Any]:
        """Copies of all slots and update counts by name, and the scheduler's step; empty before the first step.

        The keys are ``parameter_rule_slot``, ``parameter_rule_updates``, ``parameter_rule_master`` and ``global_step``,
        and ``parameter_rule_beta1_pow_acc`` where the rule has powers of decays: that of the next step, as in fluid.
        In a program it is the state in the scope of the executor that ran last. Neither hyperparameters nor a learning
        rate that is a number are in it: they are arguments.
        """
        saved: dict[str, Any] = dict(self._accumulators.saved(self._eager.entries | self._in_programs.entries()))
        step = self._learning_rate.global_step
        return saved if step is None or not saved else saved | {"global_step": step}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned: later steps have the bits they would have had there.

        Args:
            state_dict: of an optimizer with the same rule and parameters; empty is the state before the first step.

        Raises:
            StateError: it belongs to another optimizer or is not whole, or the parameters are not known yet because
                there were none in the constructor and no `minimize`. Nothing has changed.
        """
        check_mapping(self.label, state_dict)
        eager, in_programs = self._eager.parameters, list(self._in_programs.parameters.values())
        if not state_dict:
            self._eager.entries = {}
            self._in_programs.forget()
            return
        if not eager and not in_programs:
            raise StateError(f"{self.label}: no parameters are known yet; give `parameters` or call minimize first")
        saved = dict(state_dict)
        step = self._learning_rate.checked_global_step(saved.pop("global_step", None))
        known: list[Any] = [*eager, *in_programs]
        entries = self._accumulators.loaded(saved, [p for p in known if p.trainable])
        mine = {p.name for p in eager}
        self._in_programs.put({name: entry for name, entry in entries.items() if name not in mine})
        self._eager.entries = {name: entry for name, entry in entries.items() if name in mine}
        self._learning_rate.global_step = step

    set_dict = set_state_dict

    def explain(self, parameter: Any = None, index: Any = None, *, grad: Any = None) -> str:
        """The next step of one element in numbers: the formula, every operation with its result, and what comes out.

        Nothing changes. Clip and regularizer come before the rule, and so before what is shown: their result is "grad".

        Args:
            parameter: which one, or its name; by default the first one that is known.
            index: the position of the element; by default the first.
            grad: its gradient; by default that of an eager parameter. A clip sees this gradient alone.

        Raises:
            ArgumentError: no such parameter is known, it has no gradient or value, or no such element.
        """
        known: dict[str, Any] = {p.name: p for p in self._eager.parameters} | self._in_programs.parameters
        name = next(iter(known), None) if parameter is None else getattr(parameter, "name", parameter)
        if name not in known:
            raise ArgumentError(f"{self.label}: parameter = {name!r}, must be one of {', '.join(known) or '(none)'}")
        chosen = known[name]
        value = chosen.value if hasattr(chosen, "value") else self._in_programs.value(name)
        gradient = getattr(chosen, "grad", None) if grad is None else grad
        if gradient is None or value is None:
            missing = "a value: run the startup program first" if value is None else "a gradient: give `grad`"
            raise ArgumentError(f"{self.label}: {name} has not yet {missing}")
        seen = self._gradient(chosen, gradient)
        seen = seen if self.grad_clip is None else self.grad_clip.clipped([seen])[0]
        (_, seen), *_ = self._regularized([(Valued.of(chosen, value), seen)])
        index = self._checked_index(index, name, value.shape)
        entry = (self._eager.entries | self._in_programs.entries()).get(name) or self._accumulators.first(value)
        t = entry.updates + 1
        if self.lazy and isinstance(seen, SparseRows) and index[0] not in seen.rows:
            where = f"step {t}, element {list(index)} of {name}"
            return f"{self.label}, {where}: its row has no gradient, so it keeps its value and its state"
        dense = seen.dense() if isinstance(seen, SparseRows) else seen
        rate = self._learning_rate.upcoming() * chosen.learning_rate
        wide = value if entry.master is None else entry.master
        return explained(self.rule_for(chosen), name, wide, dense.astype(wide.dtype), entry.state, rate, t, index)

    def _checked_index(self, index: Any, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The position of an element of a parameter as a tuple of integers; None stands for the first element."""
        numbers = np.ravel((0,) * len(shape) if index is None else index)
        whole = numbers.dtype.kind in "iu" or not numbers.size
        if not whole or len(numbers) != len(shape) or not np.all((numbers >= 0) & (numbers < shape)):
            raise ArgumentError(f"{self.label}: index = {index!r}, must be that of an element of {name}, {shape}")
        return tuple(map(int, numbers))

    # What subclasses change.

    def rule_for(self, parameter: ParameterLike) -> Rule:
        """The rule of one parameter, with other hyperparameters perhaps."""
        return self.rule

    @abstractmethod
    def _regularized(self, params_grads: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """The pairs with the regularized gradients."""

    def _check_regularizer(self, parameter: ParameterLike) -> WeightDecayRegularizer | None:
        return checked_regularizer(self.label, f"the regularizer of {parameter.name}", parameter.regularizer)

    def _gradient(self, parameter: ParameterLike, grad: Any) -> Any:
        if isinstance(grad, SparseRows) and not self.takes_sparse:
            raise ArgumentError(f"{self.label}: {parameter.name} has a sparse gradient, which the document excludes")
        if not is_float(parameter.dtype):
            raise ArgumentError(f"{self.label}: {parameter.name} has dtype {parameter.dtype}, must be a float one")
        return checked_gradient(self.label, parameter, grad)

    def __repr__(self) -> str:
        hyper = {"learning_rate": self._learning_rate} | self.rule.hyper()
        options = {"regularization": self.regularization, "grad_clip": self.grad_clip}
        arguments = hyper | {name: value for name, value in options.items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
