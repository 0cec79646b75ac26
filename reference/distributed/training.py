"""Several workers in one process, step by step: what a real run with one process for each must compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.reference.distributed.dgc_momentum import DGCMomentum, Message, mean
from optimetry.reference.errors import UsageError
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, State


class DGCTraining:
    """Workers that hold the same parameters, see different gradients and exchange compressed ones.

    Args:
        rule: its hyperparameters.
        parameters: the parameters before the first step, the same for every worker; they are not changed.
        workers: how many; ``rule.num_trainers``, where given, must say the same.

    Attributes:
        parameters: the parameters after the last step, in their dtypes.
        states: ``states[worker][parameter]`` is that worker's own ``u`` and ``v``; the velocity is the same in all.
        sent: ``sent[worker][parameter]`` of the last step, None where nothing compressed was sent.
        steps: how many steps were taken.

    Raises:
        UsageError: the number of workers is not what the rule says.
    """

    def __init__(self, rule: DGCMomentum, parameters: Sequence[Array], workers: int) -> None:
        if workers < 1 or rule.num_trainers not in (None, workers):
            raise UsageError(f"{rule.name}: workers = {workers}, must be {rule.num_trainers or 'at least 1'}")
        self.rule = rule
        self.parameters: list[Array] = [working(param) for param in parameters]
        self.states = [[rule.initial_state(param) for param in self.parameters] for _ in range(workers)]
        self.sent: list[list[Message | None]] = [[None] * len(self.parameters) for _ in range(workers)]
        self.steps = 0

    def step(self, grads: Sequence[Sequence[Array]], lr: Any) -> list[Array]:
        """One step of all workers, and the parameters after it.

        Args:
            grads: ``grads[worker][parameter]``, of the parameter's shape and dtype.
            lr: the learning rate.

        Raises:
            UsageError: not one gradient for each worker and parameter, or one of another shape; nothing is changed.
        """
        self._check(grads)
        sparsity = self.rule.sparsity_at(self.steps)
        self.steps += 1
        for i, param in enumerate(self.parameters):
            of_workers = [self.rule.local(param, working(of_worker[i]), sparsity) for of_worker in grads]
            if sparsity is None:
                self._dense(i, of_workers, lr)
                continue
            messages = []
            for worker, grad in enumerate(of_workers):
                message, state = self.rule.compress(grad, self.states[worker][i], sparsity)
                self.states[worker][i], self.sent[worker][i] = state, message
                messages.append(message)
            self.parameters[i] = param - lr * mean(messages, param)
        return list(self.parameters)

    def _dense(self, i: int, grads: Sequence[Array], lr: Any) -> None:
        """The step of one parameter before compression begins: `Momentum` on the mean gradient."""
        total = grads[0]
        for grad in grads[1:]:
            total = total + grad
        velocity = State(velocity=self.states[0][i].velocity)
        updated = self.rule.dense().update(self.parameters[i], total / float(len(grads)), velocity, lr, self.steps)
        self.parameters[i] = updated[0]
        for state in self.states:
            state[i] = State(velocity=updated[1].velocity, u=state[i].u, v=state[i].v)

    def _check(self, grads: Sequence[Sequence[Array]]) -> None:
        shapes = [np.shape(param) for param in self.parameters]
        if len(grads) != len(self.states) or any([np.shape(grad) for grad in grads_] != shapes for grads_ in grads):
            raise UsageError(
                f"{self.rule.name}: gradients of shapes {[[np.shape(grad) for grad in of] for of in grads]}, "
                f"must be {shapes} for each of {len(self.states)} workers"
            )
