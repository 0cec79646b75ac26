"""Times every rule on a CUDA device, beside a copy from device to device and torch's fused Adam, with events.

Skipped where there is no device, or no CuPy. ``nox -s bench`` runs this with the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.benchmarks.measuring import LR, hyper_of, shape_of
from optimetry.accelerated.benchmarks.touch import bytes_moved
from optimetry.accelerated.devices.cuda import CudaDevice
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels import kernel_of, offered
from optimetry.accelerated.optimizer import Accelerated
from optimetry.reference.errors import EngineUnavailableError
from optimetry.reference.rules import rule_named

ROUNDS, STEPS = 15, 10
"""Samples, and the steps of each: the processor prepares one step while the device does the one before."""


@pytest.fixture
def device() -> CudaDevice:
    """Return the device, or skip the benchmark with the reason."""
    try:
        return CudaDevice()
    except EngineUnavailableError as error:
        pytest.skip(f"not run: {error}")


def seconds(step: Callable[[], Any], event: Callable[[], Any], elapsed: Callable[[Any, Any], float]) -> float:
    """Return the median seconds of one step.

    Args:
        step: what is timed; it is queued on the current stream.
        event: makes an event of that stream's library.
        elapsed: the milliseconds between two events that have passed.
    """
    samples = []
    for sample in range(ROUNDS + 2):  # the first two are for compilers and clocks
        start, end = event(), event()
        start.record()
        for _ in range(STEPS):
            step()
        end.record()
        end.synchronize()
        if sample >= 2:
            samples.append(elapsed(start, end) / 1e3 / STEPS)
    return median(samples)


def on_cupy(step: Callable[[], Any]) -> float:
    """Return the median seconds of one step on CuPy's current stream."""
    import cupy

    return seconds(step, cupy.cuda.Event, cupy.cuda.get_elapsed_time)


def copying(device: CudaDevice, count: int) -> float:
    """Measure the bytes per second, read and written, of a copy from device to device."""
    source, target = (device.zeros(count, np.uint8) for _ in range(2))
    data: Any = target.data
    return 2 * count / on_cupy(lambda: data.copy_from_device_async(source.data, count))


FUSED = {"adam": "Adam", "torch.adam": "Adam", "torch.adamw": "AdamW", "torch.sgd": "SGD"}
"""The classes of torch with a fused step on CUDA that moves the same memory, by rule."""


def torch_fused(rule: str, values: Any, dtype: str) -> float | None:
    """Return the seconds of one fused step of torch; None where it has none, or torch has no CUDA device."""
    if rule not in FUSED:
        return None
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    parameter = torch.nn.Parameter(torch.from_numpy(values).to("cuda", getattr(torch, dtype)))
    parameter.grad = parameter.detach().clone()
    step = getattr(torch.optim, FUSED[rule])([parameter], lr=LR, fused=True).step
    return seconds(step, lambda: torch.cuda.Event(enable_timing=True), lambda start, end: start.elapsed_time(end))


@pytest.mark.parametrize(("tensors", "elements"), [(1, 10**6), (1, 10**7), (1, 10**8), (1_000, 10_000), (10_000, 100)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("fmad", [False, True])
@pytest.mark.parametrize("rule", offered())
def test_cuda(
    benchmark: Any, device: CudaDevice, rule: str, fmad: bool, dtype: str, tensors: int, elements: int
) -> None:
    """Time one rule; its row holds everything that was measured beside it."""
    values = np.resize(np.random.default_rng(0).standard_normal(10**6).astype(np.float32), elements)
    narrow = values.reshape(shape_of(rule, elements)).astype(DTYPES[dtype].dtype)
    parameters, grads = ([device.given(narrow) for _ in range(tensors)] for _ in range(2))
    optimizer = Accelerated(rule, parameters, hyper_of(rule), engine="cuda", fmad=fmad)
    spent = on_cupy(lambda: optimizer.step(grads, LR))
    moved = bytes_moved(kernel_of(rule_named(rule).of(hyper_of(rule))), DTYPES[dtype]) * tensors * elements
    copied = copying(device, max(moved // 2, 1))
    peer = torch_fused(rule, values, dtype) if tensors == 1 else None
    import cupy

    benchmark.extra_info["cuda"] = {
        "device": cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode(),
        "rule": rule,
        "fmad": fmad,
        "dtype": dtype,
        "tensors": tensors,
        "elements": elements,
        "ns per parameter": spent / tensors / elements * 1e9,
        "GB/s": moved / spent / 1e9,
        "share of a copy": moved / spent / copied,
        "times as fast as torch fused": None if peer is None else peer / spent,
    }
    benchmark.pedantic(optimizer.step, args=(grads, LR), rounds=1)
