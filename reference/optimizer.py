"""The documented base class `Optimizer`: any update rule, behind the methods that pages 000 to 003 document.

A step clips the gradients, then regularizes them, then applies the rule. There are two ways to take one:

- in a program: `Optimizer.minimize` appends operators to the program of the loss, and every run of it is a step;
- eagerly: `Optimizer.step` reads ``.grad`` of each parameter (see `optimetry.reference.programs.eager`).

In a program the state lives in the executor's scope, and running the startup program sets it back
(`optimetry.reference.programs.updates`); eagerly it stays with the optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from optimetry.reference.arguments import (
    checked_clip,
    checked_pairs,
    checked_regularizer,
    each_once,
    names_of,
    one_of,
)
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError
from optimetry.reference.optimizer_core import OptimizerCore
from optimetry.reference.programs.gradients import append_clip, append_regularizer
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Program,
    Variable,
    all_or_nothing,
    default_startup_program,
)
from optimetry.reference.programs.updates import checked_startup
from optimetry.reference.regularizers import WeightDecayRegularizer

Pairs = list[tuple[Any, Any]]
"""Pairs (parameter, gradient): variables of a program, or eager parameters and arrays."""


class Optimizer(OptimizerCore):
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
        with all_or_nothing(*self.programs_of(loss, startup_program)):
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
        is_listed = parameter_list is not None
        chosen = each_once(self.label, parameter_list, "parameter_list") if is_listed else self.parameter_list
        with all_or_nothing(*self.programs_of(loss, startup_program)):
            return self._gradients(loss, chosen, names_of(self.label, "no_grad_set", no_grad_set), callbacks)

    def _gradients(self, loss: Any, chosen: list[Any] | None, excluded: set[str], callbacks: Any) -> Pairs:
        """What `backward` returns, from checked arguments."""
        if isinstance(loss, Variable):
            from optimetry.reference.programs.backward import append_backward

            return list(append_backward(loss, chosen, excluded, callbacks))
        if callbacks:
            raise ArgumentError(f"{self.label}: callbacks = {callbacks!r}, must be None eagerly: nothing is appended")
        eager = self._eager.resolved(chosen)
        unknown = sorted(excluded - {p.name for p in (*eager, *self._eager.parameters)})
        if unknown:
            raise ArgumentError(f"{self.label}: {unknown[0]!r} in no_grad_set, must be among the parameters")
        return [(p, p.grad) for p in eager if p.trainable and p.grad is not None and p.name not in excluded]

    def programs_of(self, loss: Any, startup: Program | None) -> list[Program]:
        """The programs that a call may change.

        Raises:
            ArgumentError: the loss is neither a variable nor an eager tensor, or the startup program is none.
        """
        program = getattr(loss, "program", None)
        if not isinstance(loss, Variable) and not hasattr(loss, "backward"):
            raise ArgumentError(f"{self.label}: loss = {loss!r}, must be a variable of a program or an eager tensor")
        startup = checked_startup(self.label, startup, default_startup_program())
        return [startup] if program is None else [program, startup]

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
        pairs = checked_pairs(self.label, parameters_and_grads)
        chosen = [self._check_regularizer(parameter) or default for parameter, _ in pairs]
        with all_or_nothing(*{parameter.program for parameter, _ in pairs if isinstance(parameter, Variable)}):
            return [
                (p, grad if regularizer is None else self._with_term(p, grad, regularizer))
                for (p, grad), regularizer in zip(pairs, chosen, strict=True)
            ]

    # Eager steps.

    def step(self) -> None:
        """Update every parameter that has a gradient, once.

        Raises:
            ArgumentError: no parameters were given, or a gradient has another shape or dtype; nothing has changed.
        """
        parameters = self._eager.resolved(self.parameter_list)
        self._step([(p, p.grad) for p in parameters if p.trainable and p.grad is not None], self.grad_clip)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set every gradient to zeros, or to None with ``set_to_zero=False``; one that is None stays None."""
        for parameter in self._eager.resolved(self.parameter_list):
            keep = set_to_zero and parameter.grad is not None
            parameter.grad = np.zeros(parameter.shape, parameter.dtype) if keep else None

    clear_gradients = clear_grad

    def _with_term(self, parameter: Any, grad: Any, regularizer: WeightDecayRegularizer) -> Any:
        """The regularized gradient: a new variable in a program, an array eagerly."""
        if isinstance(grad, Variable):
            return append_regularizer(parameter, grad, regularizer)
        return regularizer.regularized(parameter.value, grad)

    # How it works.

    def _regularized(self, params_grads: Pairs) -> Pairs:
        return self.append_regularization_ops(params_grads, self.regularization)

    def apply_clipped(
        self, params_grads: Pairs, startup: Program | None, clip: GradientClipBase | None
    ) -> list[Operator]:
        """`apply_gradients`, with a clip in place of the optimizer's own.

        Args:
            params_grads: pairs of parameters and their gradients.
            startup: the program that sets up the state; None for the default one.
            clip: the clip of the gradients; None for none.

        Raises:
            ArgumentError: an entry is no such pair, or a parameter is given twice; nothing has changed.
        """
        pairs = checked_pairs(self.label, params_grads)
        for parameter, _ in pairs:
            self._check_regularizer(parameter)
        startup = checked_startup(self.label, startup, default_startup_program())
        if not pairs or not isinstance(pairs[0][0], Parameter):
            self._step(pairs, clip)
            return []
        program = pairs[0][0].program
        before = len(program.operators)
        with all_or_nothing(program, startup):
            clipped = pairs if clip is None else append_clip(pairs, clip)
            self._in_programs.append(self._regularized(clipped), startup)
        return program.operators[before:]

    def _step(self, params_grads: Pairs, clip: GradientClipBase | None) -> None:
        """An eager step: everything is checked and computed before anything is changed."""
        pairs = [(parameter, self._gradient(parameter, grad)) for parameter, grad in params_grads]
        if clip is not None:
            pairs = list(zip((p for p, _ in pairs), clip.clipped([grad for _, grad in pairs]), strict=True))
        pairs = self._regularized(pairs)
        self._eager.step(pairs, [self.rule_for(parameter) for parameter, _ in pairs])
