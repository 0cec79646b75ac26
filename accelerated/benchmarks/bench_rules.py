"""Times every rule, engine, size and dtype beside the touch limit and the peers; ``nox -s bench`` runs this."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import pytest

from optimetry.accelerated.benchmarks.measuring import inputs, measure, optimizer_of, stepping
from optimetry.accelerated.kernels import offered

SIZES = [10**3, 10**4, 10**5, 10**6, 10**7, *([10**8] if os.environ.get("OPTIMETRY_BENCH_LARGE") else [])]
"""Elements of one tensor; the largest needs about 15 GB and is measured when asked for."""

SECONDS = float(os.environ.get("OPTIMETRY_BENCH_SECONDS", "1"))
"""Seconds for which the contenders of one row take turns."""


def timed(benchmark: Any, rule: str, dtype: str, tensors: int, elements: int) -> None:
    """Time all contenders in rounds, and ours alone with pytest-benchmark."""
    rows = measure(rule, dtype, tensors, elements, seconds=SECONDS)
    benchmark.extra_info["rows"] = [asdict(row) for row in rows]
    parameters, grads = inputs(rule, dtype, tensors, elements)
    benchmark.pedantic(stepping(optimizer_of(rule, "auto", parameters), grads), rounds=10, warmup_rounds=2)


@pytest.mark.parametrize("elements", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("rule", offered())
def test_one_tensor(benchmark: Any, rule: str, dtype: str, elements: int) -> None:
    """Time one tensor of many elements."""
    timed(benchmark, rule, dtype, 1, elements)


@pytest.mark.parametrize(("tensors", "elements"), [(1_000, 10_000), (10_000, 100)])
@pytest.mark.parametrize("rule", offered())
def test_many_tensors(benchmark: Any, rule: str, tensors: int, elements: int) -> None:
    """Time many tensors in one launch."""
    timed(benchmark, rule, "float32", tensors, elements)
