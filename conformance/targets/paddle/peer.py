"""Steps of Paddle for benchmarks, on tensors of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.offers import FLOATS
from optimetry.conformance.targets.paddle.library import paddle
from optimetry.conformance.targets.paddle.rules import PaddleClass, PaddleOperator, tensor
from optimetry.conformance.targets.peers import TimedStep
from optimetry.conformance.targets.protocol import Hyper


def steps(
    offer: Any, rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield a step of the class, or of the operator where there is no class. Narrow dtypes warn in every step: none."""
    dtype = grads[0].dtype.name
    if dtype not in FLOATS or offer.refusal(rule, hyper, dtype, "default") is not None:
        return
    tensors, gradients = [tensor(array, trainable=True) for array in parameters], [tensor(grad) for grad in grads]
    if isinstance(offer, PaddleClass):
        optimizer = offer.optimizer(hyper, tensors, lr)
        for parameter, grad in zip(tensors, gradients, strict=True):
            parameter.grad = grad
        yield "", optimizer.step
    elif isinstance(offer, PaddleOperator):
        call, rate = offer.call, paddle.to_tensor(lr, dtype="float32")
        held = [[tensor(np.zeros_like(array)) for _ in offer.slots] for array in parameters]

        def step() -> None:
            for i, grad in enumerate(gradients):
                tensors[i], *held[i] = call(tensors[i], grad, held[i], rate, hyper)

        yield "operator", step
