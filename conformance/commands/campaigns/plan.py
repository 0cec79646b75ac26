"""Lists the tasks of a campaign in a defined order; each is the same work whoever does it, and however often."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.certify.job import BlockJob, SearchJob
from optimetry.conformance.certify.judged import Judge
from optimetry.conformance.certify.worst import Worst, WorstSearch
from optimetry.conformance.commands.workers.jobs import AnyJob, Job, JobResult
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Verdict, verdict_of


@dataclass(frozen=True)
class CheckPart:
    """One rule in one dtype on all engines: a single task, as laws compare engines."""

    optimizer: str
    dtype: str

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return 1

    def jobs(self) -> Iterator[AnyJob]:
        """Yield the work of each task."""
        yield Job(self.optimizer, (self.dtype,))

    @staticmethod
    def decoded(fields: Any) -> Verdict:
        """Read what `encoded` has written."""
        return verdict_of(fields)


@dataclass(frozen=True)
class CertifyPart:
    """The blocks of one certificate on one engine, a task for each.

    Attributes:
        judge: the rule, dtype, step and setting.
        engine: the engine's number.
        engine_name: its name.
        blocks: how many blocks are drawn, None for all.
    """

    judge: Judge
    engine: int
    engine_name: str
    blocks: int | None

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return self.judge.pairs.blocks if self.blocks is None else min(self.blocks, self.judge.pairs.blocks)

    def jobs(self) -> Iterator[BlockJob]:
        """Yield the work of each task."""
        for number in self.judge.pairs.share(self.blocks):
            yield BlockJob(self.judge, number, self.engine, self.engine_name)

    @staticmethod
    def decoded(fields: Any) -> Certificate | str:
        """Read what `encoded` has written."""
        return fields if isinstance(fields, str) else Certificate.of(fields)


@dataclass(frozen=True)
class SearchPart:
    """The search for the worst case of one rule in one dtype on one engine, a task for each start."""

    search: WorstSearch
    optimizer: str
    dtype: str
    engine: int
    engine_name: str

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return self.search.starts

    def jobs(self) -> Iterator[AnyJob]:
        """Yield the work of each task."""
        for start in range(self.search.starts):
            yield SearchJob(self.search, self.optimizer, self.dtype, start, self.engine)

    @staticmethod
    def decoded(fields: Any) -> Worst | str:
        """Read what `encoded` has written."""
        if isinstance(fields, str):
            return fields
        cases = {name: text and Case.from_json(text) for name, text in fields.items() if name != "share"}
        return Worst(fields["share"], **cases)


CampaignPart = CheckPart | CertifyPart | SearchPart


@dataclass(frozen=True)
class CampaignPlan:
    """The tasks of a campaign, numbered from 0 in the order in which results are written."""

    parts: Sequence[CampaignPart]

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return sum(part.count for part in self.parts)

    def jobs(self) -> Iterator[AnyJob]:
        """Yield the work of each task, made when it is asked for."""
        for part in self.parts:
            yield from part.jobs()


def encoded(finding: JobResult) -> Any:
    """Write a finding as JSON."""
    if isinstance(finding, str):
        return finding
    if isinstance(finding, Worst):
        return {
            "share": finding.share,
            "case": finding.case and finding.case.to_json(),
            "beyond": finding.beyond and finding.beyond.to_json(),
        }
    return dataclasses.asdict(finding)
