"""The protocols of a device: the memory that arrays lie in and, for some, a compiler and launcher of CUDA C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from optimetry.accelerated.dtypes import Array

Launch = Callable[[int, Sequence[int]], None]
"""``launch(blocks, arguments)`` starts a compiled kernel; arguments are addresses and whole numbers of 64 bits."""

LINE = 64
"""The bytes of a cache line, and of the widest vector."""


def address_of(array: Any) -> int:
    """Return the address of an array's first element; ``array.ctypes.data`` takes three times as long."""
    address: int = array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.data.ptr
    return address


def extent(array: Array) -> tuple[int, int]:
    """Return the addresses of a contiguous array's first byte and of the byte after its last."""
    address = address_of(array)
    return address, address + array.nbytes


class Device(Protocol):
    """The memory that arrays lie in.

    Attributes:
        library: the name of the arrays' library, for error texts.
        kind: the type of these arrays.
        engines: the engines that work on them, the one to prefer first.
    """

    library: str
    kind: type[Any]
    engines: tuple[str, ...]

    def obstacle(self, parameter: Any) -> str | None:
        """Return why an array of ``kind`` cannot be updated in place, contiguity aside; None if it can."""
        ...

    def contiguous(self, array: Any) -> Array:
        """Return the same numbers, contiguous and aligned; a copy if need be."""
        ...

    def zeros(self, size: int, dtype: Any) -> Array:
        """Make a 1-d array of zeros."""
        ...

    def given(self, array: Array) -> Array:
        """Bring a NumPy array to this device: a copy, or itself where it is there already."""
        ...

    def copied(self, array: Array) -> Array:
        """Copy an array of this device to a new NumPy array; waits until it is computed."""
        ...

    def assign(self, target: Array, values: Array) -> None:
        """Copy a NumPy array of the same shape into an array of this device, rounded to its dtype."""
        ...


class Computer(Device, Protocol):
    """A device that runs CUDA C++.

    Attributes:
        threads: how many one block has, a power of two.
    """

    threads: int

    def stream(self) -> int:
        """Return the current stream: a launch waits for earlier work on the same stream, and for nothing else."""
        ...

    def renew(self, target: Array, values: bytes) -> None:
        """Copy bytes over an array, in the order of the current stream, which is not waited for."""
        ...

    def compiled(self, text: str, name: str, *, fmad: bool) -> Launch:
        """Compile a kernel of a program.

        Args:
            text: the program, in CUDA C++.
            name: of the kernel.
            fmad: whether a product and a sum may be fused, which rounds once.

        Raises:
            EngineUnavailableError: it does not compile here, with the reason.
        """
        ...
