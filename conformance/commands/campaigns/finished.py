"""Keeps the findings of finished tasks on disk, and gives out the tasks that are left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optimetry.conformance.commands.campaigns.plan import CampaignPlan, encoded
from optimetry.conformance.commands.files.appended import Appended
from optimetry.conformance.commands.workers.jobs import AnyJob, JobResult

FILE = "unfinished-campaign.jsonl"
"""In the folder of results, until a campaign is finished: what it is, then one line a task, as they finish."""

WINDOW = 4096
"""How far beyond the first unfinished task another may be begun. All that is held in memory is within the window."""


class Finished(Appended):
    """The finished tasks of a campaign. Each is counted once, in whatever order and however often they come.

    The file holds their findings; memory holds the number of the first unfinished task, and the finished ones beyond
    it, at most `WINDOW`.

    Args:
        path: the file; one of the same campaign that was not finished is continued.
        run: what the campaign is, as JSON.
        plan: its tasks.
    """

    of = "unfinished campaigns"

    def __init__(self, path: Path, run: dict[str, Any], plan: CampaignPlan) -> None:
        self.plan = plan
        self.count = 0
        self._first, self._beyond = 0, set[int]()
        super().__init__(path, run)
        self._left = ((number, job) for number, job in enumerate(plan.jobs()) if not self.is_finished(number))
        self._held: tuple[int, AnyJob] | None = None

    def is_finished(self, number: int) -> bool:
        """Whether a task is finished."""
        return number < self._first or number in self._beyond

    def take(self) -> tuple[int, AnyJob] | None:
        """Return the next task to begin; None where all are begun, or those before it must finish first."""
        taken = self._held or next(self._left, None)
        self._held = taken if taken is not None and taken[0] >= self._first + WINDOW else None
        return None if self._held else taken

    def add(self, number: int, findings: list[JobResult]) -> bool:
        """Keep the findings of a task; return whether it was not finished before."""
        if self.is_finished(number):
            return False
        self.append({"task": number, "findings": [encoded(finding) for finding in findings]})
        self._count(number)
        return True

    def in_order(self) -> Iterator[list[Any]]:
        """Yield the findings of each task, encoded, in the order of the tasks, once all are finished."""
        early: dict[int, list[Any]] = {}
        wanted = 0
        for fields in self.lines():
            early[fields["task"]] = fields["findings"]
            while wanted in early:
                yield early.pop(wanted)
                wanted += 1

    def _read(self, fields: dict[str, Any]) -> None:
        number = fields["task"]
        if self.is_finished(number) or not (isinstance(fields["findings"], list) and 0 <= number < self.plan.count):
            raise ValueError(number)
        self._count(number)

    def _count(self, number: int) -> None:
        self.count += 1
        self._beyond.add(number)
        while self._first in self._beyond:
            self._beyond.remove(self._first)
            self._first += 1
