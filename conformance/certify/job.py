"""The work that a worker process is given: one block, or one start of a search, on one engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from optimetry.conformance.certify.judged import Judge
from optimetry.conformance.certify.worst import Worst, WorstSearch
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.certificate import Certificate


class BlockJob(NamedTuple):
    """One block of pairs, on the engine with this number and name."""

    judge: Judge
    number: int
    engine: int
    engine_name: str

    def done(self, engines: Sequence[Target], guard: Guard) -> Certificate | str:
        """Judge the block; return the reason where it is not offered."""
        return self.judge.judged(engines[self.engine], self.number, guard)

    def lost(self, reason: str) -> Certificate:
        """Return the result of a job whose process was lost."""
        return replace(self.judge.begun(self.engine_name), reason=reason)


class SearchJob(NamedTuple):
    """One start of a search for the worst case of a rule, on the engine with this number."""

    search: WorstSearch
    optimizer: str
    dtype: str
    start: int
    engine: int

    def done(self, engines: Sequence[Target], guard: Guard) -> Worst | str:
        """Search; return how the target broke the protocol, if it did."""
        try:
            return self.search.worst_from(self.start, engines[self.engine], self.optimizer, self.dtype, guard)
        except TargetFault as fault:
            return str(fault)

    def lost(self, reason: str) -> str:
        """Return the result of a job whose process was lost."""
        return reason
