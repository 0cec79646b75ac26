"""Runs jobs in worker processes, so that a target that hangs or crashes costs one job.

Each worker loads the target itself; the parent imports no framework. On Linux, workers are forked from a process that
has imported the suite and nothing else. A worker sends a heartbeat before every run of the target: one that runs it in
its own process and is silent for longer than a run may take is killed. One that runs a program ends it by itself.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

from optimetry.conformance.commands import jobs
from optimetry.conformance.commands.jobs import END_SEARCHES, AnyJob, Finding, Job, Loaded, Task, work
from optimetry.conformance.harness.ending import ending
from optimetry.conformance.judging.diagnose import Diagnosis
from optimetry.reference.errors import TargetError
from optimetry.reports.results import Verdict

LOADING_LIMIT = 300.0
"""Seconds that loading a target may take: frameworks are large, and disks cold."""

GRACE = 10.0
"""Seconds beyond the time limit before a silent worker is killed. Inside a worker an alarm ends most runs on time; what
it cannot interrupt is killed, and what the judge does between two runs needs time too."""

PATIENCE = 2.0
"""Seconds that a worker may take to end the program that is judged."""

SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Set to 1 in workers, unless the user's environment says otherwise: the tensors are tiny."""


class Workers:
    """A pool of at most ``count`` worker processes, one of which has loaded the target once the block is entered.

    Attributes:
        name: the target's name.
        version: the target's version.
        not_run: its engines that this machine cannot run, each with the reason.
        engines: the names of those that are judged.
        note: what the target says of itself, such as what its arguments are given.

    Raises:
        TargetError: the target could not be loaded.
    """

    name: str
    version: str
    not_run: dict[str, str]
    engines: list[str]
    note: str

    def __init__(self, task: Task, count: int = 1) -> None:
        self._task = task
        self._count = count
        self._pool: list[_Worker] = []
        self._finishing = False

    def __enter__(self) -> Self:
        first = _Worker(self._task)
        self._pool = [first]
        try:
            self.name, self.version, self.not_run, self.engines, self.note = first.loaded()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        for worker in self._pool:
            worker.kill()
        self._pool = []

    def run(self, jobs: Sequence[AnyJob], told: Callable[[str], None] = lambda doing: None) -> Iterator[list[Any]]:
        """Yield the findings of each job in the order of the jobs, each as soon as those before it are complete.

        A job has its findings dtype by dtype and engine by engine; one that fails has an *error* for each dtype. Once
        `finish` is called, those that are under way are the last.

        Args:
            jobs: what is judged.
            told: called with what searches are doing, whenever that is known anew.
        """
        waiting = deque(enumerate(jobs))
        done: dict[int, list[Finding]] = {}
        finished = self.finished(lambda: waiting.popleft() if waiting else None, told)
        for position in range(len(jobs)):
            while position not in done:
                found = next(finished, None)
                if found is None:  # those that were under way are done
                    return
                done.update([found])
            yield done.pop(position)

    def finished(
        self, take: Callable[[], tuple[int, AnyJob] | None], told: Callable[[str], None] = lambda doing: None
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number and the findings of each job as soon as it is done, in any order.

        Args:
            take: returns the next job with its number, or None while there is none; asked again after each that is
                done, until all are done and there is none.
            told: as for `run`.
        """
        while True:
            self._employ(take)
            if all(worker.job is None for worker in self._pool):
                return
            found = list(self._next())
            told("; ".join(worker.searching for worker in self._pool if worker.searching))
            yield from found

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
            worker = _Worker(self._task)
            self._pool.append(worker)
            worker.give(*taken)

    def _next(self) -> Iterator[tuple[int, list[Finding]]]:
        """Wait for the next message or deadline; return the jobs that are done or have failed by then."""
        soonest = min(worker.deadline for worker in self._pool if worker.job is not None)
        remaining = None if soonest == math.inf else max(soonest - time.monotonic(), 0)
        wait([worker.pipe for worker in self._pool], remaining)
        for worker in list(self._pool):
            number, job = worker.number, worker.job
            try:
                findings = worker.answer()
            except _Lost as lost:
                worker.kill()
                self._pool.remove(worker)
                if job is None:
                    continue
                findings = self._failed(job, str(lost))
            if findings is not None:
                yield number, findings

    def _failed(self, job: AnyJob, reason: str) -> list[Finding]:
        if not isinstance(job, Job):
            return [job.lost(reason)]
        verdicts = [Verdict(optimizer=job.optimizer, dtype=name, verdict="error", reason=reason) for name in job.dtypes]
        return [Diagnosis(verdict) for verdict in verdicts] if self._task.diagnoses else list(verdicts)


class _Lost(Exception):
    """A worker can give no more answers; the text says why."""


@dataclass
class _Worker:
    """The parent's end of one worker process."""

    task: Task
    number: int = -1
    job: AnyJob | None = None
    ready: Loaded | None = None
    searching: str = ""
    deadline: float = field(init=False)
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        context: Any = new_processes()
        self.pipe, theirs = context.Pipe()
        with _inherited():
            arguments = (self.task, theirs, dict(os.environ))
            self.process = context.Process(target=work, args=arguments, name=f"optimetry {self.task.spec}")
            self.process.start()
        theirs.close()  # so that the pipe ends when the worker does
        self.deadline = time.monotonic() + LOADING_LIMIT

    def give(self, number: int, job: AnyJob) -> None:
        """Send a job; its result comes from `answer`."""
        self.number, self.job = number, job
        if self.ready:
            self._heard()
        with suppress(OSError):  # ended already: `answer` will report it
            self.pipe.send(job)

    def end_searches(self) -> None:
        """End the search that the worker is in; it begins no other."""
        with suppress(OSError):
            self.pipe.send(END_SEARCHES)

    def answer(self) -> list[Finding] | None:
        """Return the findings of the job if they have arrived; raise `_Lost` if they never will."""
        while True:
            if not self.pipe.poll():
                if self.job is not None and time.monotonic() > self.deadline:
                    raise _Lost(self._silence())
                return None
            kind, content = self._received()
            self.searching = content if kind == "search" else "" if kind == "findings" else self.searching
            if kind == "findings":
                self.job = None
                return list(content)
            if kind == "ready":
                self.ready = content
            elif kind == "refused":
                raise _Lost(content)
            elif kind == "broken":
                print(content, file=sys.stderr)
                raise _Lost(f"optimetry itself failed, please report it: {content.strip().splitlines()[-1]}")
            self._heard()

    def loaded(self) -> Loaded:
        """Wait until the target is loaded; return its name, its version, and the engines not run."""
        try:
            if not self.pipe.poll(LOADING_LIMIT):
                raise _Lost(self._silence())
            kind, content = self._received()
        except _Lost as lost:
            raise TargetError(f"target {self.task.spec}: {lost}") from None
        if kind == "refused":
            raise TargetError(content)
        self.ready = content
        return self.ready

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.pipe.close()
        if self.task.launch.command is not None:  # it ends its program first
            self.process.terminate()
            self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        self.process.close()

    def _heard(self) -> None:
        """Give a run in the worker's own process its time; the judge beside a program has no limit."""
        beside = self.task.launch.command is None
        self.deadline = time.monotonic() + self.task.time_limit + GRACE if beside else math.inf

    def _silence(self) -> str:
        if self.ready is None:
            return f"hung: loading it took longer than {LOADING_LIMIT:g} s"
        return f"hung: one run took longer than {self.task.time_limit:g} s"

    def _received(self) -> tuple[str, Any]:
        try:
            message: tuple[str, Any] = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(GRACE)
            raise _Lost(f"its process {ending(self.process.exitcode)}") from None
        return message


def new_processes() -> BaseContext:
    """Choose how processes start: on Linux from one that has imported the suite, else from nothing."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([jobs.__name__])
    return context


@contextmanager
def _inherited() -> Iterator[None]:
    """Set what a process started inside the block inherits: few threads, and Ctrl-C handled by the parent alone."""
    added = [name for name in SINGLE_THREADED if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
    try:
        yield
    finally:
        if in_main_thread:
            signal.signal(signal.SIGINT, before)
        for name in added:
            del os.environ[name]
