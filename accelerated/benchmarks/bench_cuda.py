"""Times every rule on a CUDA device, beside the touch limit and torch's steps there, with events.

Skipped where there is no device, or no CuPy. ``nox -s bench`` runs this with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache, partial
from importlib import metadata
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.benchmarks.measuring import LR, hyper_of, rows_of, shape_of, touching
from optimetry.accelerated.benchmarks.rounds import Timing, timing, turns
from optimetry.accelerated.devices.cuda import CudaDevice
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels import offered
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.targets.peers import TimedStep, peers_on_cuda
from optimetry.reference.errors import EngineUnavailableError
from optimetry.reference.rules import rule_named
from optimetry.reports.speed import TOUCH

ROUNDS, SAMPLE, MOST = 9, 5e-3, 20
"""Samples of each contender; the seconds that one takes at least, and its steps at most: the processor prepares one
step while the device does the one before."""


@pytest.fixture
def device() -> CudaDevice:
    """Return the device, or skip the benchmark with the reason."""
    try:
        return CudaDevice()
    except EngineUnavailableError as error:
        pytest.skip(f"not run: {error}")


def timings(
    contenders: Mapping[str, TimedStep], event: Callable[[], Any], elapsed: Callable[[Any, Any], float]
) -> dict[str, Timing]:
    """Time one step of each contender, in turns.

    Args:
        contenders: functions that queue one step on the current stream.
        event: makes an event of that stream's library.
        elapsed: the milliseconds between two events that have passed.
    """

    def seconds(step: TimedStep, steps: int) -> float:
        start, end = event(), event()
        start.record()
        for _ in range(steps):
            step()
        end.record()
        end.synchronize()
        return elapsed(start, end) / 1e3 / steps

    steps = {}
    for name, step in contenders.items():
        seconds(step, 1)  # which compiles and allocates
        steps[name] = min(MOST, max(1, int(SAMPLE / seconds(step, 1))))
    samples = {name: list[float]() for name in contenders}
    for done in range(ROUNDS):
        for name in turns(contenders, done):
            samples[name].append(seconds(contenders[name], steps[name]))
    return {name: timing(values) for name, values in samples.items()}


@lru_cache(maxsize=1)
def on_device(dtype: str, elements: int) -> Any:
    """Copy normal numbers to the device."""
    values = np.random.default_rng(0).standard_normal(min(elements, 10**6), np.float32)
    return CudaDevice().given(np.resize(values, elements).astype(DTYPES[dtype].dtype))


@pytest.mark.parametrize(("tensors", "elements"), [(1, 10**6), (1, 10**7), (1, 10**8), (1_000, 10_000), (10_000, 100)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("fmad", [False, True])
@pytest.mark.parametrize("rule", offered())
def test_cuda(
    benchmark: Any, device: CudaDevice, rule: str, fmad: bool, dtype: str, tensors: int, elements: int
) -> None:
    """Time one rule."""
    import cupy

    shape = shape_of(rule, elements)
    values = on_device(dtype, elements).reshape(shape)
    parameters, grads = ([values.copy() for _ in range(tensors)] for _ in range(2))
    optimizer = Accelerated(rule, parameters, hyper_of(rule), engine="cuda", fmad=fmad)
    step = partial(optimizer.step, grads, LR)
    contenders: dict[str, TimedStep] = {TOUCH: touching(optimizer, grads), "cuda with fmad" if fmad else "cuda": step}
    documented = rule_named(rule).of(hyper_of(rule)).hyper()
    peers = dict(peers_on_cuda(rule, documented, dtype, tensors, shape, LR))
    times = timings(contenders | peers, cupy.cuda.Event, cupy.cuda.get_elapsed_time)
    benchmark.extra_info["cuda"] = [asdict(row) for row in rows_of(rule, dtype, tensors, elements, times, list(peers))]
    benchmark.extra_info["device"] = device_name()
    benchmark.pedantic(step, rounds=1)


def device_name() -> str:
    """Name the device, its driver and what runs on it."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    driver = cupy.cuda.runtime.driverGetVersion()
    try:
        peer = f", torch {metadata.version('torch')}"
    except metadata.PackageNotFoundError:
        peer = ""
    return f"{name}, driver for CUDA {driver // 1000}.{driver % 1000 // 10}, CuPy {cupy.__version__}{peer}"
