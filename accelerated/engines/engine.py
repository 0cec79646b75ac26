"""The protocol of an engine, and the search for an engine that works here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.devices.interface import Computer, Device
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.plan import Plan
from optimetry.accelerated.selection.selector import Selector
from optimetry.reference.errors import EngineUnavailableError

ENGINES = (*HOST.engines, "cuda")
"""Every engine; among those of one device, the preferred one comes first."""


class Executable(Protocol):
    """One kernel compiled for one dtype."""

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step; calling the result, once, runs it in place. All that can fail is done before."""
        ...


class Engine(Protocol):
    """A way to run kernels.

    Attributes:
        name: one of `ENGINES`.
    """

    name: str

    def executable(self, kernel: Kernel, dtypes: DtypePair, *, master: bool = False) -> Executable:
        """Compile a kernel for parameters of these dtypes that have master copies or not.

        Raises:
            EngineUnavailableError: it does not compile here, with the reason.
        """
        ...

    def selector(self, u: Column, v: Column, sizes: Array) -> Selector:
        """Compile a selector, which takes out the largest entries of ``v`` and sets ``v`` and ``u`` to zero there.

        Args:
            u: of the same layout as ``v``.
            v: the entries to take from.
            sizes: the elements of each parameter, int64.

        Raises:
            EngineUnavailableError: it does not compile here, with the reason.
        """
        ...


def find_engine(
    asked: str, device: Device, use: Callable[[Engine], object], *, threads: int | None = None, fmad: bool = False
) -> tuple[Engine, str | None]:
    """Find an engine that works on a device, by using it.

    Args:
        asked: one of `ENGINES`, or ``auto``: the first of the device's that works.
        device: where the arrays lie.
        use: compiles with an engine whatever the caller needs.
        threads: how many threads may work; None for as many as there are processors to use.
        fmad: whether ``cuda`` may fuse a product and a sum.

    Returns:
        The engine, and why it is not the preferred one; None when it is.

    Raises:
        EngineUnavailableError: none of them works here, with the reason.
    """
    reason, names = None, device.engines if asked == "auto" else (asked,)
    for name in names:
        try:
            engine = _engine(name, device, threads, fmad)
            use(engine)
        except EngineUnavailableError as error:
            if name == names[-1]:
                raise
            reason = str(error)
        else:
            return engine, reason
    raise AssertionError("the last engine either works or raises")


def _engine(name: str, device: Device, threads: int | None, fmad: bool) -> Engine:
    if name == "numba":
        try:
            from optimetry.accelerated.engines.numba import NumbaEngine
        except Exception as error:  # a broken installation may raise anything
            raise EngineUnavailableError(f"Numba cannot be imported: {type(error).__name__}: {error}") from error
        return NumbaEngine(threads)
    if name == "numpy":
        from optimetry.accelerated.engines.numpy import NumpyEngine

        return NumpyEngine()
    from optimetry.accelerated.engines.cuda import CudaEngine

    return CudaEngine(cast(Computer, device), fmad=fmad)
