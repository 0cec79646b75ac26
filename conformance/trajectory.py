"""Run a target on a case, holding it to the protocol at every step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from optimetry.conformance.case import Case
from optimetry.conformance.oracle import flat
from optimetry.conformance.targets.target import Array, Run, Target
from optimetry.reference.errors import TargetFault, TargetHung


@dataclass(frozen=True)
class Guard:
    """What watches over each run of a target.

    Attributes:
        time_limit: seconds one run may take.
        heartbeat: called before each run.
    """

    time_limit: float = 60.0
    heartbeat: Callable[[], None] = lambda: None


def trajectory(target: Target, case: Case, guard: Guard) -> Array:
    """The parameters after every step as the target has them, shape (steps, elements), in the case's dtype.

    Raises:
        TargetFault: the target raised, took too long, returned other shapes or dtypes, or changed its inputs.
    """
    after = np.empty((len(case.grads), case.size), case.form.dtype)
    with watched(guard):
        run = started(target, case)
        for step, (grads, rate) in enumerate(case.steps):
            after[step] = flat(stepped(run, case, grads, rate, step))
    return after


def started(target: Target, case: Case) -> Run:
    """A run of the target, which gets copies of the parameters and is held to leave them as they are."""
    parameters = [param.copy() for param in case.parameters]
    run = target.start(case.optimizer, dict(case.hyper), parameters)
    _unchanged(parameters, case.parameters, "start changed parameter")
    return run


def stepped(run: Run, case: Case, grads: Sequence[Array | None], rate: float, step: int) -> list[Array]:
    """One step of a run, held to leave its gradients as they are and to return the shapes and dtypes it was given."""
    given = [None if grad is None else grad.copy() for grad in grads]
    after: Any = run.step(list(given), rate)
    _unchanged(given, grads, f"step {step + 1} changed gradient")
    if not isinstance(after, list | tuple):
        raise TargetFault(f"step {step + 1} returned {type(after).__name__}, must be a list of parameters")
    if len(after) != len(case.parameters):
        raise TargetFault(f"step {step + 1} returned {len(after)} parameters, must be {len(case.parameters)}")
    for i, (array, param) in enumerate(zip(after, case.parameters, strict=True)):
        if not isinstance(array, np.ndarray) or array.dtype != param.dtype or array.shape != param.shape:
            got = f"{getattr(array, 'dtype', type(array).__name__)} of shape {getattr(array, 'shape', None)}"
            raise TargetFault(
                f"step {step + 1} returned parameter {i} as {got}, must be {param.dtype} of shape {param.shape}"
            )
    return list(after)


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays of one dtype hold the same bits."""
    return a.tobytes() == b.tobytes()


def _unchanged(given: Sequence[Array | None], original: Sequence[Array | None], what: str) -> None:
    for i, (array, before) in enumerate(zip(given, original, strict=True)):
        if array is not None and before is not None and not same_bits(array, before):
            raise TargetFault(f"{what} {i}, an input")


@contextmanager
def watched(guard: Guard) -> Iterator[None]:
    """Turn whatever a run raises, and a run that does not end, into a `TargetFault`."""
    guard.heartbeat()
    try:
        with _alarm(guard.time_limit):
            yield
    except TargetFault:
        raise
    except Exception as error:
        raise TargetFault(f"raised {type(error).__name__}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


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
