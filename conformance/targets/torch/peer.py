"""Steps of classes of torch for benchmarks, on tensors of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.peers import TimedStep
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.rules import TorchClass, tensor_over

FAST, SLOW = ("fused", "foreach"), "single"
"""The implementations that are chosen for speed, the fastest first, and a loop over tensors."""


def steps(
    offer: Any, rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield a step of each fast implementation, the fastest last, or of the slow one where there is no other."""
    if not isinstance(offer, TorchClass):
        return
    dtype = grads[0].dtype.name
    able = [engine for engine in (SLOW, *FAST[::-1]) if offer.refusal(rule, hyper, dtype, engine) is None]
    for engine in [engine for engine in able if engine != SLOW] or able:
        tensors = [torch.nn.Parameter(tensor_over(np.array(array))) for array in parameters]
        for tensor, grad in zip(tensors, grads, strict=True):
            dense = tensor_over(np.array(grad))
            tensor.grad = dense.to_sparse() if offer.sparse else dense
        yield engine, offer.cls(tensors, **{offer.rate: lr}, **offer.keywords_on(engine, hyper)).step


def cuda_step(
    offer: Any, rule: str, hyper: Hyper, dtype: str, tensors: int, shape: tuple[int, ...], lr: float
) -> tuple[str, TimedStep] | None:
    """Return the fastest implementation that works on a CUDA device, and a step of it; None without a device."""
    if not isinstance(offer, TorchClass) or offer.sparse or not torch.cuda.is_available():
        return None
    for engine in (*FAST, SLOW):
        if offer.refusal(rule, hyper, dtype, engine) is not None:
            continue
        made = partial(torch.randn, shape, device="cuda", dtype=getattr(torch, dtype))
        parameters = [torch.nn.Parameter(made()) for _ in range(tensors)]
        for parameter in parameters:
            parameter.grad = made()
        try:
            step: TimedStep = offer.cls(parameters, **{offer.rate: lr}, **offer.keywords_on(engine, hyper)).step
            step()
        except RuntimeError:  # fused on the processor alone
            continue
        return engine, step
    return None
