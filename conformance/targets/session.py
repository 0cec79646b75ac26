"""Runs a target on a case, and checks the protocol at every step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import (
    AVERAGE,
    GRADIENTS,
    RULE,
    STARTS,
    Feeding,
    copied,
    watching,
)
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.wrapper import WrapperSubject
from optimetry.conformance.targets.protocol import Target, reason_refused, reason_unsupported
from optimetry.reference.errors import TargetFault, TargetHung

ALONE, MOST = 4, 32
"""The cases that are played one by one before any are played ahead, and how many are at once. Most targets that differ
do so in their first cases."""

Call = Callable[[], Any]
"""A call of a method of a run that returns arrays."""

STRETCH = 100
"""The steps that are watched as one run: a run of thousands takes an honest target, too, its time."""


@dataclass(frozen=True)
class Guard:
    """Watches over each run of a target.

    Attributes:
        time_limit: seconds one run may take, and each further `STRETCH` of a longer one.
        heartbeat: called before each of them.
        searching: called now and then with what a search is doing; returns whether it is to end.
    """

    time_limit: float = 60.0
    heartbeat: Callable[[], None] = lambda: None
    searching: Callable[[str], bool] = lambda doing: False


def trajectory(target: Target, case: Case, guard: Guard, *, fresh: Sequence[int] = ()) -> Array:
    """Run a target and return its results after every step, shape (steps, elements), in the case's dtype.

    Args:
        target: one engine.
        case: what it is fed.
        guard: what watches over the run.
        fresh: the parameters whose gradients come in an array of their own at every step; see `Session`.

    Raises:
        TargetFault: the target raised, took too long, returned other shapes or dtypes, changed its inputs, or changed
            how this process computes. It has the case.
    """
    try:
        return _results(target, case, guard, fresh)
    except TargetFault as fault:
        fault.case = case
        raise


def _results(target: Target, case: Case, guard: Guard, fresh: Sequence[int]) -> Array:
    run_whole = getattr(target, "run_whole", None)
    if callable(run_whole):
        whole: Array = run_whole(case, fresh)
        return whole
    after = np.empty((len(case.grads), case.size), case.form.dtype)
    session = None
    for start in range(0, max(len(after), 1), STRETCH):
        with watched(guard):
            session = session or Session(target, case, fresh)
            for step, (grads, rate) in islice(enumerate(case.steps), start, start + STRETCH):
                after[step] = flat(session.step(grads, rate))
    return after


class Session(Feeding):
    """A run of a target on a case.

    Raises:
        TargetFault: as for `trajectory`.
    """

    fault = TargetFault

    def __init__(self, target: Target, case: Case, fresh: Sequence[int] = ()) -> None:
        kind = kind_of(case.optimizer)
        start: Any = getattr(target, STARTS[kind == RULE])
        super().__init__(start, kind, case.optimizer, case.hyper, case.parameters, fresh, case.layouts)

    def step(self, grads: Sequence[Array | None], rate: float) -> list[Array]:
        """Feed one more step, and return the result; that of a run by messages has been checked."""
        if self.kind == AVERAGE or not getattr(self.run, "by_messages", False):
            return super().step(grads, rate)
        after: list[Array] = self.run.step(grads, rate) if self.kind == RULE else self.run.transform(grads)
        return after


def kind_of(optimizer: str) -> str:
    """Return what a subject is in the protocol's words: a rule, a wrapper of gradients, or an average."""
    subject = subject_named(optimizer)
    if not isinstance(subject, WrapperSubject):
        return RULE
    return AVERAGE if subject.averages else GRADIENTS


def hold_contents(target: Target, case: Case, guard: Guard) -> None:
    """Check that a target uses the contents of a gradient's array, not the array, which the next step overwrites.

    Raises:
        TargetFault: it keeps the array of a gradient; or as for `trajectory`.
    """
    shared = trajectory(target, case, guard)
    fresh = trajectory(target, case, guard, fresh=range(len(case.parameters)))
    if same_bits(shared, fresh):
        return
    # More runs of each kind: one alone may have the same bits where every other or third differs, which a law reports.
    if not all(same_bits(shared, trajectory(target, case, guard)) for _ in range(2)):
        return
    for i in range(len(case.parameters)):
        other = trajectory(target, case, guard, fresh=[i])
        if not same_bits(shared, other) and same_bits(other, trajectory(target, case, guard, fresh=[i])):
            raise TargetFault(
                f"keeps the array of gradient {i} instead of its contents, where the next step's gradient is written"
            )


def run_ahead(target: Target, cases: Iterable[Case]) -> None:
    """Let a program play cases that will be asked for soon, all in one message; elsewhere this does nothing."""
    ahead = getattr(target, "run_ahead", None)
    if callable(ahead):
        ahead([case for case in cases if reason_refused(target, case) is None])


def taken_ahead(target: Target, case: Case) -> bool:
    """Check whether a target takes a case, as far as it says before it plays it; faults show when it does."""
    ask = reason_refused if callable(getattr(target, "run_whole", None)) else reason_unsupported
    with suppress(TargetFault):
        return ask(target, case) is None
    return False


def runs_ahead(
    cases: Iterable[Case], targets: Callable[[], Iterable[Target]], known: Container[Case] = ()
) -> Iterator[Case]:
    """Yield cases; behind the first few, programs play some ahead, at most as many as were yielded before.

    Args:
        cases: as many as are needed.
        targets: returns the targets that are asked to play them.
        known: cases that no target is asked to play.
    """
    remaining, done = iter(cases), 0
    while block := list(islice(remaining, 1 if done < ALONE else min(done, MOST))):
        for target in targets() if len(block) > 1 else ():
            run_ahead(target, [case for case in block if case not in known])
        yield from block
        done += len(block)


def in_turn(target: Target, calls: Iterable[Call]) -> Iterator[list[Array]]:
    """Make calls of methods of a target's runs, one after the other, and yield what each returns.

    A program is asked for many of them in one message; elsewhere each is made when its result is asked for.
    """
    together = getattr(target, "in_turn", None)
    yield from together(calls) if callable(together) else (copied(call()) for call in calls)


@contextmanager
def watched(guard: Guard) -> Iterator[None]:
    """Report as a fault what a run raises, a run that does not end, and a changed floating-point environment.

    The environment is restored afterwards, so that the next run is not blamed for the change.
    """
    guard.heartbeat()
    with watching(TargetFault), _alarm(guard.time_limit):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt Python code after ``seconds``, where signals can: on POSIX, in the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> Any:
        raise TargetHung(f"hung: one run took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
