"""What every engine offers, and the names under which they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from optimetry.accelerated.devices.device import Computer, Device
from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.dtypes import Format
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.plan import Work
from optimetry.reference.errors import EngineUnavailableError, UsageError

ENGINES = (*HOST.engines, "cuda")
"""Every engine; of those of one device the one to prefer first."""


class Engine(Protocol):
    """One kernel made ready for one format."""

    def ready(self, work: Work, lr: float) -> Callable[[], None]:
        """What does one step in place when it is called, once. What can fail is done before."""
        ...


def build(
    name: str,
    kernel: Kernel,
    form: Format,
    *,
    device: Device = HOST,
    master: bool = False,
    threads: int | None = None,
    fmad: bool = False,
) -> Engine:
    """The engine of that name for a kernel and a format.

    Args:
        name: one of `ENGINES`.
        kernel: what is computed.
        form: the format of the parameters.
        device: where the parameters lie.
        master: whether the parameters have master copies.
        threads: how many threads may work; None for as many as there are processors to use.
        fmad: whether ``cuda`` may fuse a product and a sum.

    Raises:
        EngineUnavailableError: it cannot work here, with the reason.
        UsageError: no such engine.
    """
    if name == "numba":
        try:
            from optimetry.accelerated.engines.numba import NumbaEngine
        except Exception as error:  # a broken installation may raise anything
            raise EngineUnavailableError(f"Numba cannot be imported: {type(error).__name__}: {error}") from error
        return NumbaEngine(kernel, form, master=master, threads=threads)
    if name == "numpy":
        from optimetry.accelerated.engines.numpy import NumpyEngine

        return NumpyEngine(kernel, form)
    if name == "cuda":
        from optimetry.accelerated.engines.cuda import CudaEngine

        return CudaEngine(kernel, form, cast(Computer, device), master=master, fmad=fmad)
    raise UsageError(f"engine {name!r}: must be auto or one of {', '.join(ENGINES)}")
