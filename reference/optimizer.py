"""The documented base class `Optimizer`: any update rule, behind the methods that pages 000 to 003 document.

A step clips the gradients, then regularizes them, then applies the rule. There are two ways to take one:

- in a program: `Optimizer.minimize` appends operators to the program of the loss, and every run of it is a step;
- eagerly: `Optimizer.step` reads ``.grad`` of each parameter (see `optimetry.reference.programs.eager`).

The state stays with the optimizer, so one optimizer serves the parameters of one executor. Running the startup program
sets it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.reference.accumulators import Accumulators, ParameterLike, checked_gradient
from optimetry.reference.arguments import (
    checked_clip,
    checked_flag,
    checked_name,
    checked_regularizer,
    checked_weight_decay,
    each_once,
    one_of,
)
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError, StateError
from optimetry.reference.learning_rate import LearningRate
from optimetry.reference.programs.gradients import append_clip, append_regularizer
from optimetry.reference.programs.program import Operator, Parameter, Program, Variable, default_startup_program
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.schedulers import Scheduler
from optimetry.reference.sparse import SparseRows

if TYPE_CHECKING:
    from optimetry.reference.programs.eager import EagerParameter

Pairs = list[tuple[Any, Any]]
"""Pairs (parameter, gradient): variables of a program, or eager parameters and arrays."""


class NoRule(Rule):
    """What stands in for a rule in an `Optimizer` that has none."""

    name = "optimizer"

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """Say that there is nothing to do."""
        raise ArgumentError("optimizer: the base class Optimizer has no update rule; give it `rule`, or use a subclass")


class Optimizer:
    """The base of every documented optimizer; over any rule by itself.

    Args:
        learning_rate: a number, a variable with one float, or a scheduler (any object with ``get_lr`` and ``step``).
        parameters: the parameters to update; eagerly required, in a program None means all.
        weight_decay: a regularizer, or a number, which is the coefficient of `L2Decay`.
        grad_clip: a clip.
        name: accepted as documented; not used.
        rule: the update rule, with its hyperparameters.
        multi_precision: keep a float32 master copy of float16 and bfloat16 parameters. The rule updates the copy, from
            the gradient cast to float32, and the parameter is the copy, rounded. Clip and regularizer work on the
            gradient as it is.

    Attributes:
        parameter_list: the parameters to update, or their names; None for all of a program.

    Raises:
        ArgumentError: an argument is not what it must be, or a parameter is given twice.

    Documented: paddle.optimizer.Optimizer (page 002). A parameter's own regularizer replaces the optimizer's, and its
    own learning-rate factor multiplies the learning rate.
    """

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
        self._in_programs: dict[str, Parameter] = {}
        multi_precision = checked_flag(self.label, "multi_precision", multi_precision)
        self._accumulators = Accumulators(self.rule, multi_precision, self.lazy)

    # The two parts of a step in a program.

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
        grad_clip: GradientClipBase | None = None,
        *,
        parameters: Iterable[Any] | None = None,
    ) -> tuple[list[Operator], Pairs]:
        """`backward`, then `apply_gradients`.

        Args:
            loss: a variable of one element; or an eager tensor, of which ``backward()`` was called before.
            startup_program: the program in which the state is set back; by default the default startup program.
            parameter_list: the parameters to update, or their names; by default those of the constructor, or all.
            no_grad_set: variables, or names, through which no gradient flows.
            grad_clip: replaces the optimizer's clip.
            parameters: the later name of ``parameter_list`` (pages 001 and 002).

        Returns:
            The appended operators (none eagerly), and pairs (parameter, its gradient).
        """
        clip = self.grad_clip if grad_clip is None else checked_clip(self.label, grad_clip)
        chosen = one_of(self.label, parameter_list=parameter_list, parameters=parameters)
        if isinstance(loss, Variable):  # before anything is appended
            for parameter in loss.program.all_parameters():
                self._check_regularizer(parameter)
        params_grads = self.backward(loss, startup_program, chosen, no_grad_set)
        return self.apply_clipped(params_grads, startup_program, clip), params_grads

    def backward(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
        callbacks: Sequence[Callable[[Program, Operator], object]] | None = None,
    ) -> Pairs:
        """The first part of `minimize`: append the operators that compute the gradients.

        Args:
            loss: see `minimize`. For an eager tensor the gradients are those that its ``backward()`` has left.
            startup_program: accepted as documented; nothing is appended to it here.
            parameter_list: see `minimize`.
            no_grad_set: see `minimize`.
            callbacks: called with the program and each appended operator.

        Returns:
            Pairs (parameter, its gradient).
        """
        chosen = self.parameter_list if parameter_list is None else each_once(self.label, parameter_list)
        if isinstance(loss, Variable):
            from optimetry.reference.programs.backward import append_backward

            return list(append_backward(loss, chosen, no_grad_set, callbacks))
        excluded = {getattr(each, "name", each) for each in no_grad_set or ()}
        return [(p, p.grad) for p in self._eager(chosen) if p.grad is not None and p.name not in excluded]

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """The second part of `minimize`: append clip, regularization and update; eagerly, take the step at once.

        Args:
            params_grads: pairs (parameter, its gradient).

        Returns:
            The appended operators.
        """
        return self.apply_clipped(params_grads, None, self.grad_clip)

    def apply_optimize(self, loss: Any, startup_program: Program | None, params_grads: Pairs) -> list[Operator]:
        """`apply_gradients` with the startup program named; ``loss`` is accepted as documented."""
        return self.apply_clipped(params_grads, startup_program, self.grad_clip)

    def append_regularization_ops(
        self, parameters_and_grads: Pairs, regularization: WeightDecayRegularizer | None = None
    ) -> Pairs:
        """Add the regularizer's term to each gradient: by operators in a program, at once eagerly.

        Args:
            parameters_and_grads: pairs (parameter, its gradient).
            regularization: for the parameters without a regularizer of their own.

        Returns:
            The pairs with the regularized gradients.

        Raises:
            ArgumentError: a regularizer is none; nothing has been appended.
        """
        default = checked_regularizer(self.label, "regularization", regularization)
        chosen = [self._check_regularizer(parameter) or default for parameter, _ in parameters_and_grads]
        return [
            (p, grad if regularizer is None else self._with_term(p, grad, regularizer))
            for (p, grad), regularizer in zip(parameters_and_grads, chosen, strict=True)
        ]

    # Eager steps.

    def step(self) -> None:
        """Update every parameter that has a gradient, once.

        Raises:
            ArgumentError: no parameters were given, or a gradient has another shape or dtype; nothing has changed.
        """
        parameters = self._eager(self.parameter_list)
        self._step([(p, p.grad) for p in parameters if p.trainable and p.grad is not None], self.grad_clip)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set every gradient to zeros, or to None with ``set_to_zero=False``; one that is None stays None."""
        for parameter in self._eager(self.parameter_list):
            keep = set_to_zero and parameter.grad is not None
            parameter.grad = np.zeros(parameter.shape, parameter.dtype) if keep else None

    clear_gradients = clear_grad

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

        The keys are ``parameter_rule_slot``, ``parameter_rule_updates``, ``parameter_rule_master`` and ``global_step``.
        Neither hyperparameters nor a learning rate that is a number are in it: they are arguments.
        """
        saved: dict[str, Any] = dict(self._accumulators.saved())
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
        if not state_dict:
            self._accumulators.entries.clear()
            return
        saved = dict(state_dict)
        step = self._learning_rate.checked_global_step(saved.pop("global_step", None))
        self._accumulators.load(saved, self._known())
        self._learning_rate.global_step = step

    set_dict = set_state_dict

    def _with_term(self, parameter: Any, grad: Any, regularizer: WeightDecayRegularizer) -> Any:
        """The regularized gradient: a new variable in a program, an array eagerly."""
        if isinstance(grad, Variable):
            return append_regularizer(parameter, grad, regularizer, self.lazy)
        return regularizer.regularized(parameter.value, grad, self.lazy)

    # What subclasses change.

    def rule_for(self, parameter: ParameterLike) -> Rule:
        """The rule of one parameter, with other hyperparameters perhaps."""
        return self.rule

    def _regularized(self, params_grads: Pairs) -> Pairs:
        return self.append_regularization_ops(params_grads, self.regularization)

    # How it works.

    def apply_clipped(
        self, params_grads: Pairs, startup: Program | None, clip: GradientClipBase | None
    ) -> list[Operator]:
        """`apply_gradients`, with a clip in place of the optimizer's own.

        Args:
            params_grads: pairs of parameters and their gradients.
            startup: the program that sets up the state; None for the default one.
            clip: what the gradients go through first; None for nothing.

        Raises:
            ArgumentError: what is given is no such pair, or a parameter is given twice; nothing has changed.
        """
        params_grads = list(params_grads)
        for parameter, grad in params_grads:
            if not hasattr(parameter, "trainable") or isinstance(parameter, Variable) != isinstance(grad, Variable):
                raise ArgumentError(
                    f"{self.label}: ({parameter!r}, {grad!r}) is no pair of a parameter and its gradient"
                )
            self._check_regularizer(parameter)
        each_once(self.label, (parameter for parameter, _ in params_grads))
        if not params_grads or not isinstance(params_grads[0][0], Parameter):
            self._step(params_grads, clip)
            return []
        program = params_grads[0][0].program
        before = len(program.operators)
        params_grads = params_grads if clip is None else append_clip(params_grads, clip)
        params_grads = self._regularized(params_grads)
        source = self._learning_rate.variable
        rate = program.variable(program.unique(f"{self.label}.learning_rate"), (), np.float64)
        inputs = () if source is None else (source,)
        program.append(Operator("learning_rate", self._rate_of_run, inputs, (rate,), "optimize"))
        for parameter, grad in params_grads:
            self._in_programs[parameter.name] = parameter
            update = self._update_of(parameter)
            program.append(Operator(self.label, update, (parameter, grad, rate), (parameter,), "optimize"))
        startup = default_startup_program() if startup is None else startup
        startup.append(Operator("reset_state", self._reset, (), ()))
        return program.operators[before:]

    def _rate_of_run(self, *value: Any) -> Any:
        return np.asarray(self._learning_rate.for_step(*value))

    def _update_of(self, parameter: Parameter) -> Callable[..., Any]:
        def update(value: Any, grad: Any, rate: Any) -> Any:
            checked = self._gradient(parameter, grad)
            return self._accumulators.step(parameter, value, checked, float(rate), self.rule_for(parameter))

        return update

    def _reset(self) -> tuple[()]:
        self._accumulators.entries.clear()
        return ()

    def _step(self, params_grads: Pairs, clip: GradientClipBase | None) -> None:
        """An eager step: everything is checked and computed before anything is changed."""
        pairs = [(parameter, self._gradient(parameter, grad)) for parameter, grad in params_grads]
        if clip is not None:
            pairs = list(zip((p for p, _ in pairs), clip.clipped([grad for _, grad in pairs]), strict=True))
        pairs = self._regularized(pairs)
        rules = [self.rule_for(parameter) for parameter, _ in pairs]
        rate = self._learning_rate.for_step()
        for parameter in self.parameter_list or ():
            if parameter.trainable:
                self._accumulators.start(parameter, parameter.value)
        for (parameter, grad), rule in zip(pairs, rules, strict=True):
            parameter.value = self._accumulators.step(parameter, parameter.value, grad, rate, rule)

    def _check_regularizer(self, parameter: ParameterLike) -> WeightDecayRegularizer | None:
        return checked_regularizer(self.label, f"the regularizer of {parameter.name}", parameter.regularizer)

    def _gradient(self, parameter: ParameterLike, grad: Any) -> Any:
        if isinstance(grad, SparseRows) and not self.takes_sparse:
            raise ArgumentError(f"{self.label}: {parameter.name} has a sparse gradient, which the document excludes")
        return checked_gradient(self.label, parameter, grad)

    def _known(self) -> list[ParameterLike]:
        eager = [p for p in self.parameter_list or () if not isinstance(p, str | Parameter)]
        known = eager or list(self._in_programs.values())
        if not known:
            raise StateError(f"{self.label}: no parameters are known yet; give `parameters` or call minimize first")
        return [parameter for parameter in known if parameter.trainable]

    def _eager(self, parameters: Iterable[Any] | None) -> list[EagerParameter]:
        if parameters is None:
            raise ArgumentError(f"{self.label}: an eager step needs the argument `parameters` of the constructor")
        eager = list(parameters)
        for parameter in eager:
            if not hasattr(parameter, "grad"):
                raise ArgumentError(f"{self.label}: {parameter!r} has no .grad; its steps are the runs of its program")
        return eager
