"""Groups of parameters with options of their own, each trained as a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.protocol import Hyper, Run

Start = Callable[[Hyper, list[Array]], Run]
"""Begins the run of one group."""


class Grouped:
    """One optimizer over groups of parameters, in the protocol's terms.

    Args:
        start: begins the run of one group.
        groups: hyperparameters and parameters of each.
    """

    def __init__(self, start: Start, groups: Sequence[tuple[Hyper, list[Array]]]) -> None:
        self.start = start
        self.runs: list[Run] = []
        self.sizes: list[int] = []
        for hyper, parameters in groups:
            self.add(hyper, parameters)

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group."""
        self.runs.append(self.start(hyper, parameters))
        self.sizes.append(len(parameters))

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """One update of every group; return all parameters, group behind group."""
        after, remaining = list[Array](), iter(grads)
        for run, size, rate in zip(self.runs, self.sizes, learning_rates, strict=True):
            after += run.step([next(remaining) for _ in range(size)], rate)
        return after
