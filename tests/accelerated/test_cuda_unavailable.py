"""What is said, and left alone, where CUDA cannot be used."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.devices import driver
from optimetry.accelerated.devices.cuda import CudaDevice
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.targets.accelerated.target import AcceleratedTarget
from optimetry.reference.errors import ArrayError, EngineUnavailableError, UsageError


def fake_driver(status: int, count: int) -> Any:
    def get_count(reference: Any) -> int:
        reference._obj.value = count
        return status

    return SimpleNamespace(cuInit=lambda flags: status, cuDeviceGetCount=get_count)


@pytest.mark.parametrize(
    ("status", "count", "reason"),
    [
        (0, 1, None),
        (0, 0, "no CUDA device"),
        (100, 0, "no CUDA device"),
        (803, 0, "the CUDA driver does not start: error 803"),
    ],
)
def test_what_a_driver_says(status: int, count: int, reason: str | None) -> None:
    assert driver.asked(fake_driver(status, count)) == reason


def test_no_driver_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(driver.ctypes, "CDLL", missing)
    assert driver.obstacle.__wrapped__() == "no CUDA device"


@pytest.fixture
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "obstacle", lambda: driver.NO_DEVICE)


@pytest.mark.usefixtures("no_device")
def test_the_report_without_a_device() -> None:
    target = AcceleratedTarget()
    assert target.not_run() == {"cuda": "no CUDA device"}
    assert [engine.engine for engine in target.engines()] == ["numba", "numpy", "numba-master", "numpy-master"]


@pytest.mark.usefixtures("no_device")
def test_the_engine_without_a_device() -> None:
    parameter = np.ones(3)
    with pytest.raises(EngineUnavailableError, match=r"^no CUDA device$"):
        Accelerated("sgd", [parameter], engine="cuda")
    assert (parameter == 1).all()


@pytest.mark.parametrize(
    ("installed", "reason"),
    [
        (None, "cupy is not installed"),
        (SimpleNamespace(), "cupy does not work: AttributeError: .* no attribute 'cuda'"),
    ],
)
def test_without_cupy(installed: Any, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "obstacle", lambda: None)
    monkeypatch.setitem(sys.modules, "cupy", installed)
    with pytest.raises(EngineUnavailableError, match=reason):
        CudaDevice()


def test_cupy_is_imported_by_nothing_but_the_engine() -> None:
    code = (
        "import sys, optimetry.conformance.targets.accelerated.target; assert not {'cupy', 'cuda'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arrays_of_another_library() -> None:
    foreign = type("ndarray", (), {"__module__": "cupy"})()
    with pytest.raises(ArrayError, match=r"sgd: parameter 0 is a cupy\.ndarray, must be a NumPy array"):
        Accelerated("sgd", [foreign], engine="numpy")
    with pytest.raises(ArrayError, match=r"sgd: gradient 0 is a cupy\.ndarray, must be a NumPy array, Rows or None"):
        Accelerated("sgd", [np.ones(1)]).step([foreign], 0.1)
    with pytest.raises(EngineUnavailableError):  # the array decides which engine fits
        Accelerated("sgd", [foreign])


def test_only_cuda_fuses() -> None:
    with pytest.raises(UsageError, match="fmad = True with engine 'numba', must be with cuda, which alone fuses"):
        Accelerated("sgd", [np.ones(1)], engine="numba", fmad=True)
