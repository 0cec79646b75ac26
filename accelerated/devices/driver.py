"""Checks for a CUDA device with NVIDIA's driver itself, so that no library of CUDA needs to be installed."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

NO_DEVICE = "no CUDA device"

_NONE_THERE = 100
"""CUDA_ERROR_NO_DEVICE: a driver without a device, or one that ``CUDA_VISIBLE_DEVICES`` hides."""


@cache
def obstacle() -> str | None:
    """Return why no CUDA device can be used; None if one can."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return NO_DEVICE
    return asked(driver)


def asked(driver: ctypes.CDLL) -> str | None:
    """Return what a driver says, as in `obstacle`."""
    count = ctypes.c_int(0)
    for status in (driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count))):
        if status == _NONE_THERE:
            return NO_DEVICE
        if status:
            return f"the CUDA driver does not start: error {status}"
    return None if count.value else NO_DEVICE
