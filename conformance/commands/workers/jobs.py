"""Runs in a worker process: loads a target, then does the jobs that the parent sends."""

from __future__ import annotations

import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.certify.job import BlockJob, SearchJob
from optimetry.conformance.certify.worst import Worst
from optimetry.conformance.commands.workers.launching import Launch
from optimetry.conformance.commands.workers.playing import loaded, player_of
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import engine_name, engines_not_run, engines_of
from optimetry.conformance.judging.diagnose import Diagnosis, diagnose
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.oracle.expected import forget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetError
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Verdict

BEAT_INTERVAL = 0.2
"""Least seconds between two heartbeats: a run of the target may take microseconds."""

END_SEARCHES = "end searches"
"""Sent to a worker in the place of a job: the search that it is in ends, and no other begins."""


class Loaded(NamedTuple):
    """Sent by a worker once it has loaded the target.

    Attributes:
        name: the target's name.
        version: the target's version.
        not_run: its engines that this machine cannot run, each with the reason.
        engines: the names of those that are judged.
        note: what the target says of itself, such as what its arguments are given.
    """

    name: str
    version: str
    not_run: dict[str, str]
    engines: list[str]
    note: str = ""


class Job(NamedTuple):
    """One optimizer in some dtypes, on all engines or on those with these numbers."""

    optimizer: str
    dtypes: tuple[str, ...]
    engines: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Task:
    """The settings of every job.

    Attributes:
        launch: the target, and how it is run.
        effort: how many cases.
        seed: what they are drawn from.
        time_limit: seconds one run of the target may take.
        search: as for `examined`.
        diagnoses: whether jobs give diagnoses, not verdicts.
    """

    launch: Launch
    effort: Effort
    seed: int
    time_limit: float = 60.0
    search: float | None = 0.0
    diagnoses: bool = False

    @property
    def spec(self) -> str:
        """What the target is called."""
        return self.launch.spec


AnyJob = Job | BlockJob | SearchJob

JobResult = Verdict | Diagnosis | Certificate | Worst | str
"""The result of a job for each dtype and engine: of a block a certificate, of a search the worst case, or the reason
why there is none."""


@dataclass
class Parent:
    """The parent process, as a worker knows it: hears that the worker lives and what it found, and may end searches.

    Attributes:
        pipe: to the parent.
        program: the program that is judged, which ends with the worker.
        ends_searches: whether it has ended searches.
    """

    pipe: Connection
    program: ProtocolProgram | None = None
    ends_searches: bool = False
    _beaten: float = 0.0
    _asked: float = 0.0

    def send(self, kind: str, content: Any) -> None:
        """Send a message; a worker without a parent ends."""
        try:
            self.pipe.send((kind, content))
        except OSError:
            self.leave(1)

    def beat(self) -> None:
        """Say that the worker lives, unless that was said a moment ago."""
        now = time.monotonic()
        if now - self._beaten >= BEAT_INTERVAL:
            self._beaten = now
            self.send("beat", None)

    def ends_search(self, doing: str) -> bool:
        """Say what a search is doing, unless that was said a moment ago; return whether it is to end."""
        now = time.monotonic()
        if now - self._asked >= BEAT_INTERVAL:
            self._asked = now
            self.send("search", doing)
            with suppress(EOFError, OSError):
                self.ends_searches |= self.pipe.poll() and self.pipe.recv() == END_SEARCHES
        return self.ends_searches

    def jobs(self) -> Iterator[AnyJob]:
        """Yield job after job, until the parent is gone."""
        while True:
            try:
                sent: AnyJob | str = self.pipe.recv()
            except (EOFError, OSError):
                self.leave(0)
            if isinstance(sent, str):  # `END_SEARCHES`, which came after its search had ended
                self.ends_searches = True
            else:
                yield sent

    def leave(self, status: int) -> NoReturn:
        """End the worker, and the program that it judges."""
        if self.program is not None:
            self.program.end()
        os._exit(status)


def work(task: Task, pipe: Connection, environment: Mapping[str, str]) -> None:
    """Run a worker: load the target, then judge job after job until the parent is gone.

    Args:
        task: the settings of every job.
        pipe: to the parent.
        environment: the parent's variables; what a worker is forked from has those of an earlier moment.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(2, 1)  # what a target prints is not part of our output,
    warnings.simplefilter("ignore")  # nor are its warnings: cases overflow on purpose
    parent = Parent(pipe, player_of(task.launch))
    guard = Guard(task.time_limit, parent.beat, parent.ends_search)
    if parent.program is not None:
        signal.signal(signal.SIGTERM, lambda *_: parent.leave(1))
    try:
        target = loaded(task.launch, parent.program, guard)
    except TargetError as error:
        if parent.program is not None:
            parent.program.end()
        parent.send("refused", str(error))
        return
    engines = engines_of(target)
    names = [engine_name(engine) for engine in engines]
    note = str(getattr(target, "note", ""))
    parent.send("ready", Loaded(str(target.name), str(target.version), engines_not_run(target), names, note))

    for job in parent.jobs():
        try:
            findings = _done(job, task, engines, guard)
        except Exception:
            parent.send("broken", traceback.format_exc())
        else:
            parent.send("findings", findings)


def _done(job: AnyJob, task: Task, engines: Sequence[Target], guard: Guard) -> list[Any]:
    """Do a job, and return its findings."""
    if not isinstance(job, Job):
        return [job.done(engines, guard)]
    chosen = engines if job.engines is None else [engines[i] for i in job.engines]
    find: Callable[..., list[Any]] = diagnose if task.diagnoses else judge
    asked = {"effort": task.effort, "seed": task.seed, "guard": guard, "search": task.search}
    try:
        return [finding for dtype in job.dtypes for finding in find(chosen, job.optimizer, dtype, **asked)]
    finally:
        forget()  # a process does many jobs
