"""Times whole processes, until the first step is done, and importing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

STEP = """
import numpy as np
from optimetry.accelerated.optimizer import Accelerated
optimizer = Accelerated("adam", [np.ones(1000, np.float32)], engine="{engine}")
optimizer.step([np.ones(1000, np.float32)])
"""

TORCH = """
import torch
parameter = torch.nn.Parameter(torch.ones(1000))
parameter.grad = torch.ones(1000)
torch.optim.Adam([parameter], fused=True).step()
"""

OPTAX = """
import jax, optax
transform, parameter = optax.adam(1e-3), jax.numpy.ones(1000)
jax.block_until_ready(jax.jit(transform.update)(parameter, transform.init(parameter), parameter))
"""

PROCESSES: dict[str, tuple[str, bool]] = {
    "python alone": ("pass", False),
    "import numpy": ("import numpy", False),
    "import optimetry.accelerated.optimizer": ("import optimetry.accelerated.optimizer", False),
    "first step, numba, cold cache": (STEP.format(engine="numba"), True),
    "first step, numba, warm cache": (STEP.format(engine="numba"), False),
    "first step, numpy": (STEP.format(engine="numpy"), False),
    "first step, torch fused": (TORCH, False),
    "first step, optax jit": (OPTAX, False),
}
"""The code of each process, and whether its cache is empty."""


def seconds(code: str, cache: Path) -> float:
    """Return the seconds that a new process takes for some code."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    return time.perf_counter() - start


@pytest.mark.parametrize("name", PROCESSES)
def test_process(benchmark: Any, name: str, tmp_path: Path) -> None:
    """Time one kind of process several times."""
    code, cold = PROCESSES[name]
    try:
        seconds(code, tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"not run: {error.stderr.strip().splitlines()[-1]}")
    samples = [seconds(code, tmp_path / str(i) if cold else tmp_path) for i in range(5)]
    benchmark.extra_info["process"] = {"process": name, "seconds": median(samples)}
    benchmark.pedantic(seconds, args=(code, tmp_path / "last" if cold else tmp_path), rounds=1)
