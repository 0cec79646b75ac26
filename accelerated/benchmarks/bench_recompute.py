"""Measures recomputation: live bytes and time of a chain of 64 equal layers, plain and with 8 checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from optimetry.reference.optimizer import Optimizer
from optimetry.reference.programs import Executor, Program, Variable, layers, program_guard
from optimetry.reference.programs.recompute import RecomputeOptimizer
from optimetry.reference.rules.sgd import SGD

LAYERS, CHECKPOINTS = 64, 8
BATCH, WIDTH = 1024, 256
"""Activations of 1 MiB: much more than what the executor itself needs for a layer."""

ROUNDS = 7


@dataclass(frozen=True)
class Chain:
    """A chain of layers, ready to be trained.

    Attributes:
        executor: holds the parameters.
        program: one step of training.
        loss: what is minimized.
    """

    executor: Executor
    program: Program
    loss: Variable

    @classmethod
    def of(cls, recompute: bool, count: int = LAYERS, batch: int = BATCH, width: int = WIDTH) -> Chain:
        """Build a chain of ``count`` layers, plain or with checkpoints evenly spaced."""
        main, startup = Program(), Program()
        every = count // (CHECKPOINTS + 1)
        with program_guard(main, startup):
            outputs = [layers.data("x", [batch, width])]
            for _ in range(count):
                outputs.append(layers.fc(outputs[-1], width, act="tanh"))
            loss = layers.mean(outputs[-1])
            optimizer: Any = Optimizer(0.1, rule=SGD())
            if recompute:
                optimizer = RecomputeOptimizer(optimizer)
                optimizer._set_checkpoints(outputs[1 + every :: every][:CHECKPOINTS])
            optimizer.minimize(loss)
        executor = Executor()
        executor.run(startup)
        return cls(executor, main, loss)

    def step(self, x: Any) -> Any:
        """Take one step of training, and return the loss."""
        return self.executor.run(self.program, {"x": x}, [self.loss])[0]


def measure(batch: int = BATCH, width: int = WIDTH, rounds: int = ROUNDS) -> dict[str, float]:
    """Measure peak live bytes and seconds of both chains, which take turns, and their ratios."""
    x = np.random.default_rng(0).standard_normal((batch, width)).astype(np.float32)
    chains = {name: Chain.of(name == "recompute", batch=batch, width=width) for name in ("plain", "recompute")}
    seconds: dict[str, list[float]] = {name: [] for name in chains}
    for round_ in range(rounds + 1):
        for name, chain in chains.items():
            start = time.perf_counter()
            chain.step(x)
            if round_:  # the first warms up
                seconds[name].append(time.perf_counter() - start)
    plain, again = (chains[name].executor.peak_bytes for name in ("plain", "recompute"))
    return {
        "plain bytes": plain,
        "recomputed bytes": again,
        "bytes ratio": again / plain,
        "plain seconds": median(seconds["plain"]),
        "recomputed seconds": median(seconds["recompute"]),
        "time ratio": median(seconds["recompute"]) / median(seconds["plain"]),
    }


def test_recompute(benchmark: Any) -> None:
    """Measure a chain of 64 layers with 8 checkpoints."""
    figures = measure()
    benchmark.extra_info["figures"] = {"of": f"Recomputation: {LAYERS} layers, {CHECKPOINTS} checkpoints", **figures}
    chain, x = Chain.of(True), np.zeros((BATCH, WIDTH), np.float32)
    benchmark.pedantic(chain.step, args=(x,), rounds=1, warmup_rounds=1)
