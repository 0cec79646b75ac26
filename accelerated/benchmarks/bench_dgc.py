"""Measures deep gradient compression: bytes on the wire of four processes, and the time of one worker to compress."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.compression import Compression
from optimetry.reference.distributed.dgc_momentum import DGCMomentum

SPARSITY = 0.999
WORKERS, STEPS = 4, 5
ELEMENTS = 1_000_000


def wire(elements: int = ELEMENTS, workers: int = WORKERS) -> dict[str, float]:
    """Measure the bytes that a worker sends in a step, on the buffers that it gives to gloo."""
    from optimetry.accelerated.distributed import run_workers

    rng = np.random.default_rng(0)
    rule = DGCMomentum(momentum=0.9, rampup_begin_step=0, sparsity=[SPARSITY])
    parameters = [rng.standard_normal(elements, dtype=np.float32)]
    gradients = [[[rng.standard_normal(elements, dtype=np.float32)] for _ in range(STEPS)] for _ in range(workers)]
    reports = run_workers(rule, parameters, gradients, 0.1)
    most = max(sent for report in reports for sent in report.sent)
    return {"workers": workers, "dense bytes": reports[0].dense, "sent bytes": most, "ratio": most / reports[0].dense}


def compression(elements: int = ELEMENTS, engine: str = "auto", rounds: int = 7) -> dict[str, Any]:
    """Measure the seconds of one worker's compression, ours and the reference's."""
    rng = np.random.default_rng(0)
    like = np.zeros(elements, np.float32)
    rule = DGCMomentum(momentum=0.9, rampup_begin_step=0)
    ours, state = Compression([like], 0.9, engine=engine), rule.initial_state(like)
    fast, slow = [], []
    for _ in range(rounds):
        grad = rng.standard_normal(elements, dtype=np.float32)
        start = time.perf_counter()
        (message,) = ours.compress([grad], SPARSITY)
        middle = time.perf_counter()
        wanted, state = rule.compress(grad, state, SPARSITY)
        fast.append(middle - start)
        slow.append(time.perf_counter() - middle)
        assert np.array_equal(message.indices, wanted.indices)
    return {
        "elements": elements,
        "reference seconds": median(slow),
        "accelerated seconds": median(fast),
        "times as fast": median(slow) / median(fast),
    }


def test_wire(benchmark: Any) -> None:
    """Measure four processes over gloo."""
    pytest.importorskip("torch", reason="the extra torch is not installed")
    benchmark.extra_info["figures"] = {"of": f"DGC on the wire: sparsity {SPARSITY}", **wire()}
    benchmark.pedantic(wire, args=(10_000, 2), rounds=1)


def test_compression(benchmark: Any) -> None:
    """Measure one worker."""
    benchmark.extra_info["figures"] = {"of": "DGC: compression of one gradient", **compression()}
    benchmark.pedantic(compression, kwargs={"rounds": 1}, rounds=1)
