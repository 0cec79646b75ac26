"""Faulty targets as the engines of one target, to be judged in this process and in one of its own."""

from typing import Any

from optimetry.conformance.selftest.faults import FAULTS

BY_MESSAGES = (
    "resuming",
    "restoring",
    "applying_only_reads",
    "groups_are_independent",
    "dtypes_are_independent",
    "scaled_gradients",
    "accumulated_gradients",
    "memory_layout",
)
"""Laws that feed runs step by step, or ask for more than what every message says."""

JUDGED = [
    *(fault.name for fault in FAULTS.values() if fault.rejected_by == "protocol"),
    *(next(fault.name for fault in FAULTS.values() if fault.rejected_by == law) for law in BY_MESSAGES),
]


class Engine:
    """A faulty target, whose engine is called as its fault."""

    name, version = "faulty", "1.0"

    def __init__(self, name: str) -> None:
        self._target = FAULTS[name].target()
        self.engine = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


class Faulty:
    name, version = "faulty", "1.0"

    def engines(self) -> list[Engine]:
        return [Engine(name) for name in JUDGED]

    def start(self, *arguments: Any) -> Any:
        raise NotImplementedError("engines are started")
