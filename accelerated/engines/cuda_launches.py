"""The launches of a step on CUDA, whose arguments stay where they are: what is other in a later step is renewed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from optimetry.accelerated.devices.interface import Computer, Launch, address_of
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.plan import Plan


class Launches:
    """Some launches, in order, and the arrays that only they need.

    Args:
        device: what they run on.
    """

    def __init__(self, device: Computer) -> None:
        self._device = device
        self._launches: list[tuple[Launch, int, tuple[int, ...]]] = []
        self._kept: list[Array | int] = []
        self._renewed: dict[str, tuple[bytes, Array]] = {}

    def add(self, launch: Launch, blocks: int, *arguments: Array | int) -> None:
        """Add a launch of so many blocks, which reads and writes these arrays."""
        numbers = (value if isinstance(value, int) else address_of(value) for value in arguments)
        self._launches.append((launch, blocks, tuple(numbers)))
        self._kept += arguments

    def keep(self, *arrays: Array) -> None:
        """Keep arrays of which tables have the addresses alone."""
        self._kept += arrays

    def renewed(self, name: str, values: Array) -> Array:
        """Copy values that may be others in the next step to the device."""
        values = np.ascontiguousarray(values)
        array = self._device.given(values.copy())
        self._renewed[name] = values.tobytes(), array
        return array

    def renew(self, name: str, values: Array) -> None:
        """Give a step other values of the same shape and dtype: where they are the same, nothing is copied."""
        held, array = self._renewed[name]
        now = values.tobytes()
        if now != held:
            self._device.renew(array, now)
            self._renewed[name] = now, array

    def run(self, kept: object = None) -> None:
        """Launch all; what is kept lives until then, such as copies of gradients."""
        for launch, blocks, arguments in self._launches:
            launch(blocks, arguments)


class Prepared(Protocol):
    """The launches of one step on one stream, and their tables.

    The plan keeps this, so this must not keep the plan: memory of the device would wait for the garbage collector.
    """

    launches: Launches

    def renew(self, plan: Plan, lr: float) -> None:
        """Prepare another step of the same plan: renew what is other then."""
        ...


def ready(plan: Plan, lr: float, device: Computer, prepare: Callable[[], Prepared]) -> Callable[[], None]:
    """Return what runs a step on the current stream: prepared at its first step there, and renewed for every other.

    Each stream has its own, since work that is queued on one may not be finished yet for another.
    """
    steps: dict[int, Prepared] = plan.prepared or {}
    stream = device.stream()
    if stream in steps:
        steps[stream].renew(plan, lr)
    else:
        steps[stream] = prepare()
    plan.prepared = steps
    return partial(steps[stream].launches.run, plan)
