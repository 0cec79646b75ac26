"""Deep gradient compression of one worker: accumulate, find the largest entries, and take them out.

One fused pass accumulates; `optimetry.accelerated.selection` finds and takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.engines.engine import Engine
from optimetry.accelerated.inplace import InPlace, Options, zeros
from optimetry.accelerated.kernels.kernel import GRAD, Kernel, Pass, Real
from optimetry.reference.distributed.dgc_momentum import Message, count_sent
from optimetry.reference.domains import real
from optimetry.reference.errors import ArrayError


def accumulated(g: Real, u: Real, v: Real, mu: Real) -> tuple[Real, Real]:
    """``u = mu u + g; v += u``."""
    u = mu * u + g
    return u, v + u


def accumulated_ahead(g: Real, u: Real, v: Real, mu: Real) -> tuple[Real, Real]:
    """``u = mu (u + g); v += u + g``."""
    u = mu * (u + g)
    return u, v + (u + g)


ACCUMULATED_CUDA = """
    u = mu * u + g;
    v = v + u;
"""

AHEAD_CUDA = """
    u = mu * (u + g);
    v = v + (u + g);
"""

LARGEST = 2**31 - 1
"""Positions are sent as int32."""


class Compression(InPlace):
    """The residuals of one worker, for all parameters.

    Args:
        like: arrays of the parameters' dtypes and shapes, as `InPlace` takes them; they are not changed.
        momentum: the factor of ``u`` in each step, in [0, 1).
        use_nesterov: whether to look ahead along the velocity.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: the momentum is not in [0, 1).
        ArrayError: an array that cannot be worked on, or of more than 2³¹ - 1 elements.
        EngineUnavailableError: the engine does not work here.
    """

    def __init__(
        self,
        like: Sequence[Array],
        momentum: float,
        use_nesterov: bool = False,
        **options: Unpack[Options],
    ) -> None:
        mu = real("dgc_momentum", "momentum", momentum, "[0, 1)")
        for i, array in enumerate(like):
            if array.size > LARGEST:
                raise ArrayError(f"dgc_momentum: parameter {i} has {array.size} elements, must have at most {LARGEST}")
        function, cuda = (accumulated_ahead, AHEAD_CUDA) if use_nesterov else (accumulated, ACCUMULATED_CUDA)
        pass_ = Pass(function, (GRAD, "u", "v"), ("u", "v"), lambda lr, t: (mu,), cuda=cuda)
        super().__init__("dgc_momentum", like, {"accumulate": Kernel((pass_,))}, zeros("u", "v"), **options)

    def _compile(self, engine: Engine) -> None:
        super()._compile(engine)
        arenas = [group.arena for group in self._groups]
        self._selectors = [engine.selector(arena.slots["u"], arena.slots["v"], arena.sizes) for arena in arenas]

    def compress(self, grads: Sequence[Array], sparsity: float) -> list[Message]:
        """Add one gradient for each parameter to the residuals, and take out the entries that are sent.

        Gradients that are the same objects as the last time are not checked again, and are kept until the next.

        Args:
            grads: arrays of the parameters' dtypes and shapes, as ``DGCMomentum.local`` returns them.
            sparsity: the share of entries that is held back, in [0, 1).

        Returns:
            For each parameter a message with arrays of the library that its gradients have; values are float32 for
            narrow parameters.

        Raises:
            ArrayError: a gradient of another dtype or shape. Nothing has been changed.
            HyperparameterError: the sparsity is not in [0, 1). Nothing has been changed.
            MemoryError: there is no memory for the messages. Nothing has been changed.
        """
        sparsity = real("dgc_momentum", "sparsity", sparsity, "[0, 1)")
        runs = self._ready("accumulate", read=grads, noun="gradient")
        messages: dict[int, Message] = {}
        for group, selector in zip(self._groups, self._selectors, strict=True):
            sent, run = selector.ready([count_sent(self.arrays[i].size, sparsity) for i in group.members])
            messages |= zip(group.members, sent, strict=True)
            runs.append(run)
        for run in runs:
            run()
        return [messages[i] for i in range(len(grads))]

    def residuals(self) -> tuple[list[Array], list[Array]]:
        """Return ``u`` and ``v`` of every parameter, views."""
        return self._slot_views("u"), self._slot_views("v")
