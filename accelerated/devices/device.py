"""Chooses the device that an engine, or the arrays themselves, need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.devices.interface import Device


def device_of(engine: str, parameters: Sequence[Any]) -> Device:
    """Return the device of an engine; for ``auto``, that of the parameters.

    Raises:
        EngineUnavailableError: it cannot be used here, with the reason.
    """
    on_device = any(type(parameter).__module__.partition(".")[0] == "cupy" for parameter in parameters)
    if engine == "cuda" or (engine == "auto" and on_device):
        from optimetry.accelerated.devices.cuda import CudaDevice

        return CudaDevice()
    return HOST
