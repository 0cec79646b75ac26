"""What every device offers, and which one parameters need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.dtypes import Array

Launch = Callable[[int, Sequence[int]], None]
"""``launch(blocks, arguments)`` starts a compiled kernel; arguments are addresses and whole numbers of 64 bits."""


class Device(Protocol):
    """The memory that arrays lie in.

    Attributes:
        library: whose arrays they are, in words.
        kind: the type of these arrays.
        engines: the engines that work on them, the one to prefer first.
    """

    library: str
    kind: type[Any]
    engines: tuple[str, ...]

    def obstacle(self, parameter: Any) -> str | None:
        """Why an array of ``kind`` cannot be updated in place, contiguity aside; None if it can."""
        ...

    def contiguous(self, array: Any) -> Array:
        """The same numbers, contiguous and aligned; a copy if need be."""
        ...

    def zeros(self, size: int, dtype: Any) -> Array:
        """A new 1-d array of zeros."""
        ...

    def given(self, array: Array) -> Array:
        """A NumPy array on this device: a copy, or itself where it is there already."""
        ...

    def copied(self, array: Array) -> Array:
        """A new NumPy array of what an array of this device holds; waits until it is computed."""
        ...

    def assign(self, target: Array, values: Array) -> None:
        """Put a NumPy array of the same shape into an array of this device, rounded to its dtype."""
        ...


class Computer(Device, Protocol):
    """A device that runs CUDA C++.

    Attributes:
        threads: of one block, a power of two.
    """

    threads: int

    def stream(self) -> int:
        """What is launched now waits for what was given before to the same stream, and for nothing else."""
        ...

    def compiled(self, text: str, name: str, *, fmad: bool) -> Launch:
        """A kernel of a program.

        Args:
            text: the program, in CUDA C++.
            name: of the kernel.
            fmad: whether a product and a sum may be fused, which rounds once.

        Raises:
            EngineUnavailableError: it does not compile here, with the reason.
        """
        ...


def device_of(engine: str, parameters: Sequence[Any]) -> Device:
    """The device of an engine; of ``auto``, that of the parameters.

    Raises:
        EngineUnavailableError: it cannot be used here, with the reason.
    """
    on_device = any(type(parameter).__module__.partition(".")[0] == "cupy" for parameter in parameters)
    if engine == "cuda" or (engine == "auto" and on_device):
        from optimetry.accelerated.devices.cuda import CudaDevice

        return CudaDevice()
    return HOST
