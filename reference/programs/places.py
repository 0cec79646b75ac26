"""Places, which the documents' examples name: where a program or a section of a pipeline runs. Here all is the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError


@dataclass(frozen=True)
class CPUPlace:
    """The CPU."""


@dataclass(frozen=True)
class CUDAPlace:
    """A GPU, by its number; accepted as documented, and the CPU runs what is placed there.

    Args:
        device_id: the number, from 0.
    """

    device_id: int

    def __post_init__(self) -> None:
        whole("CUDAPlace", "device_id", self.device_id, "[0, inf)")


Place = CPUPlace | CUDAPlace


def checked_place(owner: str, argument: str, place: Any) -> Place | None:
    """A place or None.

    Raises:
        ArgumentError: it is something else.
    """
    if place is None or isinstance(place, Place):
        return place
    raise ArgumentError(f"{owner}: {argument} = {place!r}, must be CPUPlace(), CUDAPlace(number) or None")
