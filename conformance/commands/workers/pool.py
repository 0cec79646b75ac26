"""Runs jobs in worker processes, so that a target that hangs or crashes costs one job.

Each worker loads the target itself; the parent imports no framework. On Linux, workers are forked from a process that
has imported the suite and nothing else. A worker sends a heartbeat before every run of the target: one that runs it in
its own process and is silent for longer than a run may take is killed. One that runs a program ends it by itself.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any, Self

from optimetry.conformance.commands.workers.jobs import AnyJob, Job, JobResult, Loaded, Task
from optimetry.conformance.commands.workers.worker import Lost, Worker
from optimetry.conformance.judging.diagnose import Diagnosis
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reports.results import Verdict


class Workers:
    """A pool of at most ``count`` worker processes, one of which has loaded the target once the block is entered.

    Attributes:
        loaded: what is known of the target then.

    Raises:
        TargetError: the target could not be loaded.
    """

    loaded: Loaded

    def __init__(self, task: Task, count: int = 1) -> None:
        self._task = task
        self._count = count
        self._pool: list[Worker] = []
        self._finishing = False

    def __enter__(self) -> Self:
        first = Worker(self._task)
        self._pool = [first]
        try:
            self.loaded = first.loaded()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End all processes."""
        for worker in self._pool:
            worker.kill()
        self._pool = []

    def run(self, jobs: Sequence[AnyJob], report: Callable[[str], None] = lambda doing: None) -> Iterator[list[Any]]:
        """Yield the findings of each job in the order of the jobs, each as soon as those before it are complete.

        A job has its findings dtype by dtype and engine by engine; one that fails has an *error* for each dtype. Once
        `finish` is called, those that are under way are the last.

        Args:
            jobs: what is judged.
            report: called with what searches are doing, after each message of a worker.
        """
        waiting = deque(enumerate(jobs))
        done: dict[int, list[JobResult]] = {}
        finished = self.finished(lambda: waiting.popleft() if waiting else None, report)
        for position in range(len(jobs)):
            while position not in done:
                finished_job = next(finished, None)
                if finished_job is None:  # those that were under way are done
                    return
                done.update([finished_job])
            yield done.pop(position)

    def finished(
        self, take: Callable[[], tuple[int, AnyJob] | None], report: Callable[[str], None] = lambda doing: None
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number and the findings of each job as soon as it is done, in any order.

        Args:
            take: returns the next job with its number, or None while there is none; asked again after each that is
                done, until all are done and there is none.
            report: as for `run`.
        """
        while True:
            self._employ(take)
            if all(worker.job is None for worker in self._pool):
                return
            findings = list(self._next())
            report("; ".join(worker.searching for worker in self._pool if worker.searching))
            yield from findings

    def end_searches(self) -> bool:
        """End the searches that are under way, and those to come; return whether any are under way."""
        under_way = [worker for worker in self._pool if worker.searching]
        for worker in self._pool if under_way else ():
            worker.end_searches()
        return bool(under_way)

    def finish(self) -> bool:
        """End the searches that are under way, if any are, and then begin no other job; return whether any are."""
        self._finishing = self.end_searches()
        return self._finishing

    def _employ(self, take: Callable[[], tuple[int, AnyJob] | None]) -> None:
        """Give every idle worker a job, and start workers for the rest; none where jobs are being finished."""
        if self._finishing:
            return
        for worker in self._pool:
            if worker.job is None:
                taken = take()
                if taken is None:
                    return
                worker.give(*taken)
        while len(self._pool) < self._count:
            taken = take()
            if taken is None:
                return
            worker = Worker(self._task)
            self._pool.append(worker)
            worker.give(*taken)

    def _next(self) -> Iterator[tuple[int, list[JobResult]]]:
        """Wait for the next message or deadline; return the jobs that are done or have failed by then."""
        soonest = min(worker.deadline for worker in self._pool if worker.job is not None)
        remaining = None if soonest == math.inf else max(soonest - time.monotonic(), 0)
        wait([worker.pipe for worker in self._pool], remaining)
        for worker in list(self._pool):
            number, job = worker.number, worker.job
            try:
                findings = worker.answer()
            except Lost as lost:
                worker.kill()
                self._pool.remove(worker)
                if job is None:
                    continue
                findings = self._failed(job, str(lost))
            if findings is not None:
                yield number, findings

    def _failed(self, job: AnyJob, reason: str) -> list[JobResult]:
        if not isinstance(job, Job):
            return [job.lost(reason)]
        book = subject_named(job.optimizer).book
        verdicts = [
            Verdict(book=book, optimizer=job.optimizer, dtype=name, verdict="error", reason=reason)
            for name in job.dtypes
        ]
        return [Diagnosis(verdict) for verdict in verdicts] if self._task.diagnoses else list(verdicts)
