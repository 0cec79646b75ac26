from __future__ import annotations

import pytest

from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.devices.interface import Device
from tests.accelerated.emulated import Emulated


@pytest.fixture
def emulated_cuda(monkeypatch: pytest.MonkeyPatch) -> Emulated:
    """The engine ``cuda`` works on NumPy arrays."""
    device = Emulated()

    def device_of(engine: str, parameters: object) -> Device:
        return device if engine == "cuda" else HOST

    for module in (
        "accelerated.inplace",
        "conformance.targets.accelerated.target",
        "conformance.targets.accelerated.wrappers",
    ):
        monkeypatch.setattr(f"optimetry.{module}.device_of", device_of)
    return device
