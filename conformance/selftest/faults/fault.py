"""Declares faults: targets that compute every subject as documented but one, and that one with one defect."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from optimetry.conformance.cases.large import Scale
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.instead import Instead
from optimetry.reports.arithmetic import described
from optimetry.reports.parts import complete
from optimetry.reports.results import Verdict

Memory = MutableMapping[str, Any]
"""Outlives the runs of one target; an honest target keeps nothing there."""

Start = Callable[[Any, list[Array], Memory], Any]
"""Begins a faulty run, given the documented rule or wrapper, the parameters and the target's memory."""


FOUND = "dialect: found"
"""The outcome of a fault whose formula the search finds; see `Fault.edited`."""


@dataclass(frozen=True)
class Fault:
    """One defect, and the verdict that the suite must give on it.

    Attributes:
        name: unique among all faults.
        optimizer: the subject it breaks.
        defect: what is wrong, and where such a defect was seen or which token of the formula is mutated.
        start: begins a run with the defect.
        rejected_by: what rejects it first: a law's name, ``oracle`` or ``protocol``; None where that depends on the
            cases.
        outcome: the verdict that it must get, as `outcome` writes it.
        dtypes: the dtypes in which it must be noticed.
        edited: whether it is a change of the formula that no family contains, which the search should find.
        because: what the verdict's reason must contain.
        time_limit: seconds one run may take.
        scales: the large cases that show it, where no ordinary case does.
        kind: the class of its target.
    """

    name: str
    optimizer: str
    defect: str
    start: Start = field(repr=False)
    rejected_by: str | None = None
    outcome: str = "diverges"
    dtypes: tuple[str, ...] = ("float32",)
    edited: bool = False
    because: str = ""
    time_limit: float = 60.0
    scales: tuple[Scale, ...] = ()
    kind: type[FaultyTarget] | None = field(default=None, repr=False)

    def target(self) -> FaultyTarget:
        """Make a target with this defect, with empty memory."""
        return (self.kind or FaultyTarget)(self)


class FaultyTarget(Instead):
    """The reference with one fault, in the protocol of any target."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.memory: Memory = {}
        begin = fault.start
        super().__init__(
            lambda documented, parameters: begin(documented, parameters, self.memory), fault.optimizer, fault.name
        )


FAULTS: dict[str, Fault] = {}
"""Every fault by name; filled when `optimetry.conformance.selftest.faults` is imported."""


def enter(*faults: Fault) -> None:
    """Enter faults into `FAULTS`.

    Raises:
        ValueError: there is one of that name.
    """
    for fault in faults:
        if fault.name in FAULTS:
            raise ValueError(f"fault {fault.name} is entered twice")
        FAULTS[fault.name] = fault


def outcome(verdict: Verdict) -> str:
    """Write a verdict in a few words: ``diverges``, ``dialect: scaled_epsilon``, ``imprecise: beta1 in float32``.

    Parts that leave some cases unexplained are no name, and left out.
    """
    parts = map(str, verdict.computes.parts if complete(verdict.computes.parts) else ())
    computes = [*([verdict.dialect] if verdict.dialect else []), *parts, *map(described, verdict.computes.arithmetic)]
    return ": ".join([verdict.verdict, *(["; ".join(computes)] if computes else [])])


def rejected_by(verdict: Verdict) -> str | None:
    """Return what noticed a defect, in the terms of `Fault.rejected_by`; None where nothing did."""
    if verdict.verdict == "unsupported" or (verdict.verdict == "conforms" and not verdict.computes.arithmetic):
        return None
    return "protocol" if verdict.verdict == "error" else verdict.law or "oracle"
