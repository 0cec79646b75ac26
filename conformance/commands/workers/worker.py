"""One worker process: starts it, gives it jobs, hears of it, and ends it when it is silent for too long."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from optimetry.conformance.commands.workers import jobs
from optimetry.conformance.commands.workers.jobs import END_SEARCHES, AnyJob, JobResult, Loaded, Task, work
from optimetry.conformance.harness.ending import ending
from optimetry.conformance.harness.program import LOADING_LIMIT, PATIENCE
from optimetry.reference.errors import TargetError

GRACE = 10.0
"""Seconds beyond the time limit before a silent worker is killed. Inside a worker an alarm ends most runs on time; what
it cannot interrupt is killed, and what the judge does between two runs needs time too."""

SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Set to 1 in workers, unless the user's environment says otherwise: the tensors are tiny."""


class Lost(Exception):
    """A worker can give no more answers; the text says why."""


@dataclass
class Worker:
    """The parent's end of one worker process; TargetError where the system starts none.

    Attributes:
        task: what its jobs are of.
        number: that of its job.
        job: what it is doing, None while it is idle.
        ready: what it says of the target, once that is loaded.
        searching: what a search is doing, empty where none is under way.
        deadline: until when it must be heard of.
        pipe: what messages come through.
        process: the process.
    """

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
        try:
            self.pipe, theirs = context.Pipe()
            with inherited():
                arguments = (self.task, theirs, dict(os.environ))
                self.process = context.Process(target=work, args=arguments, name=f"optimetry {self.task.spec}")
                self.process.start()
        except OSError as error:
            raise TargetError(f"target {self.task.spec}: no worker starts: {error.strerror or error}") from error
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

    def answer(self) -> list[JobResult] | None:
        """Return the findings of the job if they have arrived; raise `Lost` if they never will."""
        while True:
            if not self.pipe.poll():
                if self.job is not None and time.monotonic() > self.deadline:
                    raise Lost(self._silence())
                return None
            kind, content = self._received()
            self.searching = content if kind == "search" else "" if kind == "findings" else self.searching
            if kind == "findings":
                self.job = None
                return list(content)
            if kind == "ready":
                self.ready = content
            elif kind == "refused":
                raise Lost(content)
            elif kind == "broken":
                print(content, file=sys.stderr)
                raise Lost(f"optimetry itself failed, please report it: {content.strip().splitlines()[-1]}")
            self._heard()

    def loaded(self) -> Loaded:
        """Wait until the target is loaded; return what the worker says of it."""
        try:
            if not self.pipe.poll(LOADING_LIMIT):
                raise Lost(self._silence())
            kind, content = self._received()
        except Lost as lost:
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
            raise Lost(f"its process {ending(self.process.exitcode)}") from None
        return message


def new_processes() -> BaseContext:
    """Choose how processes start: on Linux from one that has imported the suite, else from nothing."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([jobs.__name__])
    return context


@contextmanager
def inherited() -> Iterator[None]:
    """Set what a process started inside the block inherits: few threads, and Ctrl-C handled by the parent alone.

    What is typed meanwhile ends the run behind the block.
    """
    added = [name for name in SINGLE_THREADED if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        with _interrupts_held() if threading.current_thread() is threading.main_thread() else nullcontext():
            yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back Ctrl-C from this thread until the block ends, and for ever from a process that is started inside it.

    Were it ignored instead, which is inherited as well, what is typed meanwhile would be lost.
    """
    resource_tracker.ensure_running()  # which lets it through, once it has started
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
