"""Steps of ``torch.optim`` for benchmarks, on tensors of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.peers import TimedStep
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.rules import TorchClass, tensor_over
from optimetry.conformance.targets.torch.table import OFFERS

TIMED = ("fused", "foreach")  # a loop over single tensors is slow, and no one chooses it for speed


def steps(
    rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield a step of each fast implementation."""
    offer = OFFERS.get(rule)
    if not isinstance(offer, TorchClass):
        return
    for engine in TIMED:
        if offer.refusal(rule, hyper, grads[0].dtype.name, engine) is None:
            tensors = [torch.nn.Parameter(tensor_over(np.array(array))) for array in parameters]
            for tensor, grad in zip(tensors, grads, strict=True):
                tensor.grad = tensor_over(np.array(grad))
            yield f"torch {engine}", offer.cls(tensors, lr=lr, **offer.keywords_on(engine, hyper)).step
