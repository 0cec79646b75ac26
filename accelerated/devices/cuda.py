"""CuPy arrays on a CUDA device.

Of CuPy only memory, copies and launches are used. Its own kernels are not: they flush float32 subnormals to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from optimetry.accelerated.devices import driver, nvrtc
from optimetry.accelerated.devices.interface import Launch, address_of
from optimetry.accelerated.dtypes import Array
from optimetry.reference.errors import EngineUnavailableError


class CudaDevice:
    """The CUDA device that is current when this is made; see `Computer` for what it offers.

    Work is queued on the current stream, and only copies to NumPy wait for it.

    Raises:
        EngineUnavailableError: there is no device, or CuPy cannot be imported, with the reason.
    """

    library = "CuPy"
    engines: tuple[str, ...] = ("cuda",)
    threads = 256

    def __init__(self) -> None:
        reason = driver.obstacle()
        if reason is not None:
            raise EngineUnavailableError(reason)
        try:
            import cupy

            self._number = int(cupy.cuda.Device().id)
        except ModuleNotFoundError as error:
            raise EngineUnavailableError("cupy is not installed") from error
        except Exception as error:  # a broken installation may raise anything
            raise EngineUnavailableError(f"cupy does not work: {type(error).__name__}: {error}") from error
        self._cupy = cupy
        self.kind: type[Any] = cupy.ndarray

    def obstacle(self, parameter: Any) -> str | None:
        """Return why a parameter cannot be used: it lies on another device."""
        number = int(parameter.device.id)
        if number == self._number:
            return None
        return f"lies on CUDA device {number}, must be on {self._number}, the current one"

    def contiguous(self, array: Any) -> Array:
        """Return the array, or a copy; CuPy moves bits without computing."""
        with self._current():
            whole: Array = self._cupy.ascontiguousarray(array)
        return whole

    def zeros(self, size: int, dtype: Any) -> Array:
        """Make zeros: all bits are 0."""
        with self._current():
            made: Array = self._cupy.zeros(size, dtype)
        return made

    def given(self, array: Array) -> Array:
        """Copy to the device, through pinned memory, without waiting for the stream."""
        with self._current():
            made: Array = self._cupy.array(array.reshape(-1)).reshape(array.shape)
        return made

    def copied(self, array: Any) -> Array:
        """Copy to NumPy's memory, once the array is computed."""
        made: Array = array.get()
        return made

    def assign(self, target: Any, values: Array) -> None:
        """Copy the values, which NumPy rounds to the dtype of the target."""
        with np.errstate(all="ignore"):
            target.set(np.asarray(values).astype(target.dtype))

    def stream(self) -> int:
        """Return the current stream."""
        with self._current():
            return int(self._cupy.cuda.get_current_stream().ptr)

    def renew(self, target: Any, values: bytes) -> None:
        """Copy through the driver's own pinned memory: the bytes are read before this returns."""
        with self._current():
            target.data.copy_from_host_async(address_of(np.frombuffer(values, np.uint8)), len(values))

    def compiled(self, text: str, name: str, *, fmad: bool) -> Launch:
        """Compile a kernel for this device, once in a process."""
        key = (text, name, fmad, self._number)
        if key not in _COMPILED:
            _COMPILED[key] = self._compiled(text, name, fmad)
        return _COMPILED[key]

    def _compiled(self, text: str, name: str, fmad: bool) -> Launch:
        with self._current():
            architecture = f"sm_{self._cupy.cuda.Device().compute_capability}"
            module = self._cupy.cuda.Module()
            module.load(nvrtc.compiled(text, architecture, fmad=fmad).machine_code)
            function = module.get_function(name)

        def launch(blocks: int, arguments: Sequence[int]) -> None:
            with self._current():
                function((blocks,), (self.threads,), tuple(map(np.uint64, arguments)))

        return launch

    def _current(self) -> AbstractContextManager[object]:
        device: AbstractContextManager[object] = self._cupy.cuda.Device(self._number)
        return device


_COMPILED: dict[tuple[str, str, bool, int], Launch] = {}
