"""What every engine offers, and the names under which they are found."""

from __future__ import annotations

from typing import Protocol

from optimetry.accelerated.formats import Format
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.work import Work
from optimetry.reference.errors import EngineUnavailableError, UsageError

ENGINES = ("numba", "numpy")
"""Every engine, the one to prefer first."""


class Engine(Protocol):
    """One kernel made ready for one format."""

    def run(self, work: Work, lr: float) -> None:
        """Do one step in place. It either does all of the work or raises before it has changed anything."""
        ...


def build(name: str, kernel: Kernel, form: Format, *, master: bool = False, threads: int | None = None) -> Engine:
    """The engine of that name for a kernel and a format.

    Args:
        name: one of `ENGINES`.
        kernel: what is computed.
        form: the format of the parameters.
        master: whether the parameters have master copies.
        threads: how many threads may work; None for as many as there are processors to use.

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
    raise UsageError(f"engine {name!r}: must be auto or one of {', '.join(ENGINES)}")
