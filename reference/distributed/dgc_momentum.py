"""Deep gradient compression: each worker sends the few largest entries of what it has accumulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from optimetry.reference.declaration import count, flag, hyper
from optimetry.reference.domains import real, whole
from optimetry.reference.errors import HyperparameterError
from optimetry.reference.norms import norm
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.rules.momentum import Momentum

TAIL_SPARSITY = 0.999
"""The sparsity once the list has ended, whatever its last entry is (page 000)."""


@dataclass(frozen=True)
class Message:
    """What one worker sends of one parameter in one step.

    Attributes:
        indices: positions in the flattened parameter, ascending, int32, shape (k,).
        values: what is sent for them, of the parameter's dtype, shape (k,).
    """

    indices: Array
    values: Array

    @property
    def nbytes(self) -> int:
        """Bytes on the wire: indices and values."""
        return int(self.indices.nbytes + self.values.nbytes)


@dataclass(frozen=True, kw_only=True)
class DGCMomentum(Rule):
    r"""Momentum that sends only the largest entries of each worker's accumulated gradient (Lin et al., 2018).

    Symbols: :math:`u` momentum-corrected gradient, :math:`v` what is not sent yet, :math:`\mu` momentum,
    :math:`s` sparsity, :math:`N` workers.

    .. math::
        u \leftarrow \mu u + g,\quad v \leftarrow v + u \qquad
        \text{or, with Nesterov,}\quad u \leftarrow \mu (u + g),\quad v \leftarrow v + u + g

    The ``max(1, int(numel * (1 - s)))`` entries of largest :math:`|v|` are sent, and :math:`u` and :math:`v`
    become zero there (momentum factor masking). The sum of all messages, divided by :math:`N`, is applied as plain SGD.
    Before ``rampup_begin_step`` the mean gradient is applied by dense `Momentum` instead; steps count from 0.

    Documented: fluid.optimizer.DGCMomentumOptimizer (page 000), which refers to https://arxiv.org/abs/1712.01887.
    Decisions: after the list ends the sparsity is 0.999, as the page says, not the last entry. The local clip norm is
    ``local_grad_clip_norm / sqrt(num_trainers)``, as the paper has it. Among equal entries the first is sent; a NaN
    counts as the largest, so that it is seen by all. Each worker adds the regularizer's term to its gradient behind the
    clip. What PaddlePaddle 1.8.5 does beyond the page is left out (decision 0015): the first :math:`u` is 0, not the
    dense velocity; small tensors are compressed like large ones; a single worker is compressed too.
    """

    momentum: float = hyper(None, "[0, 1)", "share of the velocity that is kept")
    rampup_begin_step: int = count(None, "[0, inf)", "the first step whose gradients are compressed")
    rampup_step: int = count(1, "[1, inf)", "how many steps the list of sparsities lasts")
    sparsity: Sequence[float] = (TAIL_SPARSITY,)
    use_nesterov: bool = flag(False, "look ahead along the velocity")
    local_grad_clip_norm: float | None = None
    num_trainers: int | None = None
    regularizer: WeightDecayRegularizer | None = None

    name = "dgc_momentum"
    slots = ("velocity", "u", "v")
    elementwise = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sparsity", self._checked_sparsity())
        workers, clip = self.num_trainers, self.local_grad_clip_norm
        if workers is not None:
            whole(self.name, "num_trainers", workers, "[1, inf)")
        if clip is not None:
            real(self.name, "local_grad_clip_norm", clip, "(0, inf)")
        if clip is not None and workers is None:
            raise HyperparameterError(
                f"{self.name}: num_trainers = None, must be given with local_grad_clip_norm = {clip!r}, "
                "which is divided by its root"
            )

    def _checked_sparsity(self) -> tuple[float, ...]:
        values: Any = self.sparsity
        if not isinstance(values, list | tuple) or not values:
            raise HyperparameterError(f"{self.name}: sparsity = {values!r}, must be a list of numbers in [0, 1)")
        return tuple(real(self.name, f"sparsity[{i}]", entry, "[0, 1)") for i, entry in enumerate(values))

    def sparsity_at(self, step: int) -> float | None:
        """The share of entries that is held back in a step, counted from 0; None before compression begins."""
        since = step - self.rampup_begin_step
        if since < 0:
            return None
        entry = since * len(self.sparsity) // self.rampup_step
        return self.sparsity[entry] if entry < len(self.sparsity) else TAIL_SPARSITY

    def local(self, param: Array, grad: Array, sparsity: float | None) -> Array:
        """One worker's gradient of one parameter before it is accumulated: clipped, if compressed, and regularized."""
        grad = grad if sparsity is None else self.clipped(grad)
        return grad if self.regularizer is None else grad + self.regularizer.term(param)

    def clipped(self, grad: Array) -> Array:
        """One worker's gradient of one parameter, no longer than the local clip norm."""
        if self.local_grad_clip_norm is None or self.num_trainers is None:
            return grad
        limit, size = self.local_grad_clip_norm / math.sqrt(self.num_trainers), norm(grad)
        return grad * limit / size if size > limit else grad

    def accumulated(self, grad: Array, state: State) -> tuple[Array, Array]:
        """``u`` and ``v`` once one worker's gradient is taken in, before anything is sent."""
        return accumulate(state.u, state.v, grad, self.momentum, self.use_nesterov)

    def compress(self, grad: Array, state: State, sparsity: float) -> tuple[Message, State]:
        """What one worker sends for its gradient of one parameter, and its state afterwards.

        Args:
            grad: the gradient, any shape, as `local` returns it.
            state: the worker's own ``u`` and ``v``.
            sparsity: the share of entries that is held back.
        """
        u, v = self.accumulated(grad, state)
        indices = largest(v, count_sent(v.size, sparsity))
        message = Message(indices, v.reshape(-1)[indices])
        return message, State(velocity=state.velocity, u=_zeroed(u, indices), v=_zeroed(v, indices))

    def dense(self) -> Momentum:
        """The rule before compression begins, applied to the mean gradient."""
        return Momentum(momentum=self.momentum, use_nesterov=self.use_nesterov)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One step of a single worker; see `Rule.update`, and `DGCTraining` for several."""
        sparsity = self.sparsity_at(t - 1)
        grad = self.local(param, grad, sparsity)
        if sparsity is None:
            param, dense = self.dense().update(param, grad, State(velocity=state.velocity), lr, t)
            return param, State(velocity=dense.velocity, u=state.u, v=state.v)
        message, state = self.compress(grad, state, sparsity)
        return param - lr * mean([message], param), state


def accumulate(u: Array, v: Array, grad: Array, momentum: Any, use_nesterov: bool) -> tuple[Array, Array]:
    """``u`` and ``v`` with one gradient taken in."""
    if use_nesterov:
        u = momentum * (u + grad)
        return u, v + (u + grad)
    u = momentum * u + grad
    return u, v + u


def count_sent(size: int, sparsity: float) -> int:
    """How many of ``size`` entries are sent, in exact arithmetic on the decimal: 100 of 1000 at a sparsity of 0.9."""
    return min(size, max(1, int(size * (1 - Fraction(repr(float(sparsity)))))))


def largest(v: Array, number: int) -> Array:
    """The flat positions of the ``number`` entries of largest magnitude, ascending, int32."""
    magnitude = np.abs(v.reshape(-1))
    order = np.argsort(np.where(np.isnan(magnitude), -np.inf, -magnitude), kind="stable")
    return np.sort(order[:number]).astype(np.int32)


def mean(messages: Sequence[Message], like: Array) -> Array:
    """The sum of all workers' messages in their order, divided by their number, shaped like a parameter."""
    total = np.zeros_like(like).reshape(-1)
    for message in messages:
        total[message.indices] = total[message.indices] + message.values
    return total.reshape(like.shape) / float(len(messages))


def _zeroed(array: Array, indices: Array) -> Array:
    flat = array.reshape(-1).copy()
    flat[indices] = 0
    return flat.reshape(array.shape)
