"""What one worker does in a step of deep gradient compression: accumulate, find the largest entries, take them out.

One fused pass accumulates; the largest are found by selection, in linear time, not by sorting. It works on NumPy arrays
alone: selection is no sweep over memory, so CUDA has none of this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimetry.accelerated.formats import Array
from optimetry.accelerated.kernels.kernel import GRAD, Kernel, Number, Pass
from optimetry.accelerated.sweeps import Sweep
from optimetry.reference.distributed.dgc_momentum import Message, count_sent
from optimetry.reference.domains import real


def accumulated(g: Number, u: Number, v: Number, mu: Number) -> tuple[Number, Number]:
    """``u = mu u + g; v += u``."""
    u = mu * u + g
    return u, v + u


def accumulated_ahead(g: Number, u: Number, v: Number, mu: Number) -> tuple[Number, Number]:
    """``u = mu (u + g); v += u + g``."""
    u = mu * (u + g)
    return u, v + (u + g)


class Compression:
    """The residuals of one worker, for all parameters.

    Args:
        like: NumPy arrays of the parameters' dtypes and shapes, as `Sweep` takes them; they are not changed.
        momentum: the share of ``u`` that is kept, in [0, 1).
        use_nesterov: whether to look ahead along the velocity.
        engine: ``numba``, ``numpy`` or ``auto``; see `Sweep`.
        threads: see `Sweep`.

    Raises:
        HyperparameterError: the momentum is not in [0, 1).
        ArrayError: an array that cannot be worked on.
        EngineUnavailableError: the engine is ``cuda``, or does not work here.
    """

    def __init__(
        self,
        like: Sequence[Array],
        momentum: float,
        use_nesterov: bool = False,
        *,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        mu = real("dgc_momentum", "momentum", momentum, "[0, 1)")
        function = accumulated_ahead if use_nesterov else accumulated
        one = Pass(function, (GRAD, "u", "v"), ("u", "v"), lambda lr, t: (mu,))
        self._sweep = Sweep(
            "dgc_momentum", like, {"accumulate": Kernel((one,))}, slots=("u", "v"), engine=engine, threads=threads
        )

    def compress(self, grads: Sequence[Array], sparsity: float) -> list[Message]:
        """Take in one gradient for each parameter, and take out what is sent of each.

        Args:
            grads: arrays of the parameters' dtypes and shapes, as ``DGCMomentum.local`` returns them.
            sparsity: the share of entries that is held back, in [0, 1).

        Raises:
            ArrayError: a gradient of another dtype or shape. Nothing has been changed.
        """
        self._sweep.run("accumulate", read=grads)
        messages = []
        for u, v in zip(self._sweep.slots("u"), self._sweep.slots("v"), strict=True):
            flat = v.reshape(-1)
            indices = largest(flat, count_sent(flat.size, sparsity))
            messages.append(Message(indices, flat[indices]))
            flat[indices] = u.reshape(-1)[indices] = 0
        return messages

    def residuals(self) -> tuple[list[Array], list[Array]]:
        """``u`` and ``v`` of every parameter, views."""
        return self._sweep.slots("u"), self._sweep.slots("v")


def largest(v: Array, number: int) -> Array:
    """The positions of the ``number`` entries of largest magnitude of a 1-d array, ascending, int32.

    Among equal entries the first is taken; a NaN counts as an infinity.
    """
    if number >= v.size:
        return np.arange(v.size, dtype=np.int32)
    magnitude = np.abs(v)
    magnitude[np.isnan(magnitude)] = np.inf
    least = np.partition(magnitude, v.size - number)[v.size - number]
    above = np.flatnonzero(magnitude > least)
    level = np.flatnonzero(magnitude == least)[: number - len(above)]
    return np.sort(np.concatenate([above, level])).astype(np.int32)
