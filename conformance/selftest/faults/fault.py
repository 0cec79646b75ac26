"""What a faulty target is: a target that computes every rule as documented but one, and that one with one defect."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from optimetry.conformance.laws import LAWS
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.protocol import Hyper, Run
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named
from optimetry.reports.results import Verdict

Memory = MutableMapping[str, Any]
"""What outlives the runs of one target; an honest one keeps nothing there."""

Start = Callable[[Rule, list[Array], Memory], Run]
"""Begins a faulty run of a documented rule."""


@dataclass(frozen=True)
class Fault:
    """One defect, and what the suite must say of it.

    Attributes:
        name: unique among all faults.
        optimizer: the rule it breaks.
        defect: what is wrong, and where such a defect was seen or which token of the rule is mutated.
        start: begins a run with the defect.
        convicted_by: what convicts it first: a law's name, ``oracle`` or ``protocol``; None where the cases decide
            which of several.
        outcome: the verdict it must get: ``diverges``, ``error`` or ``dialect:`` and a name.
        dtypes: the dtypes in which it must be convicted.
        because: what the verdict's reason must contain.
        time_limit: seconds one run may take.
        kind: the class of its target.
    """

    name: str
    optimizer: str
    defect: str
    start: Start = field(repr=False)
    convicted_by: str | None = None
    outcome: str = "diverges"
    dtypes: tuple[str, ...] = ("float32",)
    because: str = ""
    time_limit: float = 60.0
    kind: type[FaultyTarget] | None = field(default=None, repr=False)

    def target(self) -> FaultyTarget:
        """A target with this defect, which remembers nothing yet."""
        return (self.kind or FaultyTarget)(self, self.name)


@dataclass
class FaultyTarget:
    """The reference with one fault, in the protocol of any target."""

    fault: Fault
    name: str
    version: str = "0"
    memory: Memory = field(default_factory=dict, repr=False)

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Run:
        """Begin a run, faulty for the fault's optimizer alone."""
        rule = rule_named(optimizer).of(hyper)
        faulty = optimizer == self.fault.optimizer
        return self.fault.start(rule, parameters, self.memory) if faulty else RuleRun(rule, parameters)


FAULTS: dict[str, Fault] = {}
"""Every fault by name; filled when `optimetry.conformance.faults` is imported."""


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
    """A verdict as `Fault.outcome` has it."""
    return f"dialect:{verdict.dialect}" if verdict.verdict == "dialect" else verdict.verdict


def convicted_by(verdict: Verdict) -> str | None:
    """What convicted a target, as `Fault.convicted_by` has it; None where nothing did."""
    if verdict.verdict in ("conforms", "unsupported"):
        return None
    if verdict.verdict == "error":
        return "protocol"
    named = re.match(r"breaks a law: .* \((\w+): ", verdict.reason)
    return named[1] if named is not None and named[1] in LAWS else "oracle"
