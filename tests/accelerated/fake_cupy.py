"""As much of CuPy as the engine uses, over NumPy and g++: it finds slips of the pen, not misreadings of CuPy."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from optimetry.accelerated.devices.nvrtc import Compiled
from tests.accelerated.emulated import compiled


class ndarray:  # noqa: N801
    """An array "on the device"."""

    __module__ = "cupy"

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.shape, self.dtype, self.size = memory.shape, memory.dtype, memory.size
        self.ndim, self.nbytes, self.itemsize = memory.ndim, memory.nbytes, memory.itemsize
        self.flags = SimpleNamespace(c_contiguous=memory.flags.c_contiguous)  # and nothing else, as in CuPy
        self.data = SimpleNamespace(ptr=memory.ctypes.data, copy_from_host_async=self._renew)
        self.device = SimpleNamespace(id=0)

    def _renew(self, address: int, size: int) -> None:
        assert size == self.nbytes
        ctypes.memmove(self._memory.ctypes.data, address, size)

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __len__(self) -> int:
        return len(self._memory)

    def __getitem__(self, index: Any) -> ndarray:
        return ndarray(self._memory[index])

    def __setitem__(self, index: Any, value: ndarray) -> None:
        assert isinstance(index, ndarray)
        assert isinstance(value, ndarray)
        self._memory[index._memory] = value._memory

    def reshape(self, *shape: Any) -> ndarray:
        return ndarray(self._memory.reshape(*shape))

    def view(self, dtype: Any) -> ndarray:
        return ndarray(self._memory.view(dtype))

    def copy(self) -> ndarray:
        return ndarray(self._memory.copy())

    def get(self) -> Any:
        return self._memory.copy()

    def set(self, array: Any) -> None:
        if array.dtype != self.dtype:
            raise TypeError(f"{array.dtype} array cannot be set to {self.dtype} array")
        if array.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {array.shape}")
        if not self.flags.c_contiguous:
            raise RuntimeError("Cannot set to non-contiguous array")
        self._memory[...] = array


class Device(nullcontext[None]):
    compute_capability = "90"

    def __init__(self, number: int = 0) -> None:
        super().__init__()
        self.id = number


class Module:
    def load(self, program: bytes) -> None:
        self._program = program

    def get_function(self, name: str) -> Any:
        options, text = self._program.decode().split("\n", 1)
        launch = compiled(text, name, options == "fmad")

        def function(grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
            assert f"THREADS = {block[0]}," in text
            assert all(type(argument) is np.uint64 for argument in arguments)
            launch(grid[0], [int(argument) for argument in arguments])

        return function


def program(text: str, architecture: str, *, fmad: bool) -> Compiled:
    """In place of NVRTC."""
    assert architecture == "sm_90"
    return Compiled(b"", f"{'fmad' if fmad else ''}\n{text}".encode())


def array(values: Any) -> ndarray:
    return ndarray(np.array(values))


def zeros(shape: Any, dtype: Any) -> ndarray:
    return ndarray(np.zeros(shape, dtype))


def ascontiguousarray(array: ndarray) -> ndarray:
    return ndarray(np.ascontiguousarray(array._memory))


cuda = SimpleNamespace(Device=Device, Module=Module, get_current_stream=lambda: SimpleNamespace(ptr=0))
