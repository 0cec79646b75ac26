"""Runs of MindSpore's clips (``mindspore.ops``) and of the weight decay of ``mindspore.nn``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optimetry.conformance.targets.mindspore.rules import DTYPES, parameters_of, tensor_of
from optimetry.conformance.targets.offers import Offer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Gradients(Offer):
    """Maps a documented clip to a function of ``mindspore.ops``, a decay to a method, or the two in this order."""

    clip: str = ""
    """The function's name, if there is one."""
    limits: tuple[str, ...] = ()
    """The documented hyperparameters that it takes."""
    together: bool = False
    """Whether it takes all gradients at once."""
    decay: str = ""
    """The documented hyperparameter that is the ``weight_decay`` of an optimizer, if it is one."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why MindSpore refuses, None where it does not."""
        return None if dtype in DTYPES else f"mindspore gives NumPy no {dtype}"

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Transforming:
        """Begin a run."""
        return Transforming([*self._clips(hyper), *self._decays(hyper, parameters)])

    def _clips(self, hyper: Hyper) -> list[Callable[[Sequence[Any]], Sequence[Any]]]:
        from mindspore import ops

        if not self.clip:
            return []
        function, limits = getattr(ops, self.clip), [hyper[name] for name in self.limits]
        if self.together:
            return [lambda grads: function(grads, *limits)]
        return [lambda grads: [function(grad, *limits) for grad in grads]]

    def _decays(self, hyper: Hyper, parameters: Sequence[Array]) -> list[Callable[[Sequence[Any]], Sequence[Any]]]:
        from mindspore import nn

        if not self.decay:
            return []
        optimizer = nn.Momentum(parameters_of(parameters), 1.0, 0.0, weight_decay=hyper[self.decay])
        return [lambda grads: optimizer.decay_weight(tuple(grads))]


class Transforming:
    """Functions of gradients, one behind the other."""

    def __init__(self, functions: Sequence[Callable[[Sequence[Any]], Sequence[Any]]]) -> None:
        self._functions = functions

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return what they make of these gradients."""
        tensors: Sequence[Any] = [tensor_of(grad) for grad in grads]
        for function in self._functions:
            tensors = function(tensors)
        return [tensor.asnumpy().copy() for tensor in tensors]
