"""Backward passes that compute activations again instead of keeping them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from optimetry.reference.arguments import checked_clip, each_once, names_of
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError, ProgramError
from optimetry.reference.optimizer import Optimizer, Pairs
from optimetry.reference.programs.backward import Callback, append_backward
from optimetry.reference.programs.program import Operator, Program, Variable, all_or_nothing


class Recomputation:
    """Replays one segment of a program at a time: the ``replay`` of `append_backward`.

    Checkpoints split the forward operators into segments, each ending with the operator that writes a checkpoint.
    Before the gradients of a segment, those of its operators whose results are needed are appended again, on new
    variables; so the executor drops the first results in the forward pass. What is read across segments is kept,
    checkpoint or not. The operators behind the last checkpoint are not run again: their gradients come first.

    Args:
        program: what is differentiated; replayed operators are appended to it.
        checkpoints: variables that forward operators of the program write.

    Raises:
        ProgramError: a checkpoint is written by no forward operator of the program.
    """

    def __init__(self, program: Program, checkpoints: Sequence[Variable]) -> None:
        self._program = program
        self._forward = [operator for operator in program.operators if operator.role == "forward"]
        self._kept = {checkpoint.name for checkpoint in checkpoints}
        written = {variable for operator in self._forward for variable in operator.outputs}
        for checkpoint in checkpoints:
            if checkpoint not in written:
                raise ProgramError(f"checkpoint {checkpoint.name}: no forward operator of the program writes it")
        self._producers = {variable.name: op for op in self._forward for variable in op.outputs}
        self._segments: dict[Operator, int] = {}
        self._tail = 0
        for operator in self._forward:
            self._segments[operator] = self._tail
            self._tail += any(variable.name in self._kept for variable in operator.outputs)
        self._copies: dict[str, Variable] = {}

    def __call__(self, operator: Operator) -> Operator:
        """Append operators that compute the inputs of a forward operator again; return it on those inputs."""
        if self._segments[operator] == self._tail:
            return operator
        needed = self._missing(operator)
        for again in sorted(needed, key=self._forward.index):
            for variable in again.outputs:
                self._copies[variable.name] = self._program.like(
                    variable, self._program.unique(f"{variable.name}@RECOMPUTED")
                )
            self._program.append(replace(again.renamed(self._copies), role="backward"))
        return operator.renamed(self._copies)

    def _missing(self, operator: Operator) -> set[Operator]:
        """The operators of the same segment on which the inputs of ``operator`` depend, not replayed yet."""
        missing: set[Operator] = set()
        waiting = [operator]
        while waiting:
            reader = waiting.pop()
            for variable in reader.inputs:
                producer = self._producers.get(variable.name)
                is_at_hand = variable.name in self._kept or variable.name in self._copies
                if producer is None or is_at_hand or self._segments[producer] != self._segments[operator]:
                    continue
                if producer not in missing:
                    missing.add(producer)
                    waiting.append(producer)
        return missing


class RecomputeOptimizer:
    """Lets an optimizer train with less memory: activations between checkpoints are computed a second time.

    Gradients and updates are those of the optimizer itself, bit for bit: the same operators run on the same bits,
    random ones with the same masks, and the terms of a gradient are added in the same order.

    Args:
        optimizer: the optimizer that updates the parameters.

    Raises:
        ArgumentError: it is no optimizer.

    Documented: fluid.optimizer.RecomputeOptimizer (page 004).
    """

    def __init__(self, optimizer: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentError(f"RecomputeOptimizer: optimizer = {optimizer!r}, must be an optimizer")
        self._optimizer: Optimizer = optimizer
        self._checkpoints: list[Variable] = []

    def _set_checkpoints(self, checkpoints: Any) -> None:
        """Set the variables that are kept, which split the program into segments. Needed before `minimize`.

        Raises:
            ArgumentError: not a list of variables, an empty one, or one that holds a variable twice.
        """
        is_list = isinstance(checkpoints, list | tuple) and len(checkpoints) > 0
        if not is_list or not all(isinstance(checkpoint, Variable) for checkpoint in checkpoints):
            raise ArgumentError(f"RecomputeOptimizer: checkpoints = {checkpoints!r}, must be a list of variables")
        for checkpoint in checkpoints:
            if checkpoints.count(checkpoint) > 1:
                raise ArgumentError(f"RecomputeOptimizer: checkpoint {checkpoint.name} is given twice")
        self._checkpoints = list(checkpoints)

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
        grad_clip: GradientClipBase | None = None,
    ) -> tuple[list[Operator], Pairs]:
        """`backward`, then the optimizer's `apply_gradients`; arguments and result as for `Optimizer.minimize`."""
        clip = self._optimizer.grad_clip if grad_clip is None else checked_clip(self._optimizer.label, grad_clip)
        with all_or_nothing(*self._optimizer.programs_of(loss, startup_program)):
            params_grads = self.backward(loss, startup_program, parameter_list, no_grad_set)
            return self._optimizer.apply_clipped(params_grads, startup_program, clip), params_grads

    def backward(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Pairs:
        """Append the operators that compute the gradients, with those that are run again.

        Arguments and result as for `Optimizer.backward`; callbacks see the operators of the gradients alone.

        Raises:
            ArgumentError: no checkpoints were set, or the loss is no variable of a program.
            ProgramError: a checkpoint is written by no forward operator of the program. Nothing was appended.
        """
        if not self._checkpoints:
            raise ArgumentError("RecomputeOptimizer: checkpoints are missing: call _set_checkpoints before minimize")
        if not isinstance(loss, Variable):
            raise ArgumentError(f"RecomputeOptimizer: loss = {loss!r}, must be a variable of a program")
        optimizer, is_listed = self._optimizer, parameter_list is not None
        label = optimizer.label
        chosen = each_once(label, parameter_list, "parameter_list") if is_listed else optimizer.parameter_list
        excluded = names_of(label, "no_grad_set", no_grad_set)
        with all_or_nothing(*optimizer.programs_of(loss, startup_program)):
            replay = Recomputation(loss.program, self._checkpoints)
            return list(append_backward(loss, chosen, excluded, callbacks, replay))

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """See `Optimizer.apply_gradients`."""
        return self._optimizer.apply_gradients(params_grads)

    def apply_optimize(self, loss: Any, startup_program: Program | None, params_grads: Pairs) -> list[Operator]:
        """See `Optimizer.apply_optimize`."""
        return self._optimizer.apply_optimize(loss, startup_program, params_grads)

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's state dict: the wrapper has no state."""
        return self._optimizer.state_dict()

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See `Optimizer.set_state_dict`."""
        self._optimizer.set_state_dict(state_dict)

    set_dict = set_state_dict

    def __repr__(self) -> str:
        return f"RecomputeOptimizer({self._optimizer!r}, checkpoints={[each.name for each in self._checkpoints]})"
