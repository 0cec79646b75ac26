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

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.targets.protocol import Target
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
        session = Session(target, case)
        for step, (grads, rate) in enumerate(case.steps):
            after[step] = flat(session.step(grads, rate))
    return after


class Session:
    """A run of a target, fed as a training loop feeds it, and held to leave what it is given as it is.

    The target gets copies of the parameters, and each parameter's gradients in one buffer that is written anew before
    every step. Whoever keeps the buffer in place of its contents sees them change. All are arrays, 0-d ones too, with
    memory of their own, C-contiguous and writeable.

    Raises:
        TargetFault: as for `trajectory`.
    """

    def __init__(self, target: Target, case: Case) -> None:
        self.case = case
        self.taken = 0
        self.parameters = [np.array(param, order="C") for param in case.parameters]
        self.buffers = [np.empty_like(param) for param in self.parameters]
        self.run = target.start(case.optimizer, dict(case.hyper), list(self.parameters))
        self._hold(self.parameters, case.parameters, "start changed parameter")

    def step(self, grads: Sequence[Array | None], rate: float) -> list[Array]:
        """The parameters after one more step."""
        self.taken += 1
        for buffer, grad in zip(self.buffers, grads, strict=True):
            if grad is not None:
                buffer[...] = grad
        given = [None if grad is None else buffer for buffer, grad in zip(self.buffers, grads, strict=True)]
        after: Any = self.run.step(list(given), rate)
        self._hold(given, grads, f"step {self.taken} changed gradient")
        self._hold(self.parameters, self.case.parameters, f"step {self.taken} changed parameter")
        if not isinstance(after, list | tuple):
            raise TargetFault(f"step {self.taken} returned {type(after).__name__}, must be a list of parameters")
        if len(after) != len(self.parameters):
            raise TargetFault(f"step {self.taken} returned {len(after)} parameters, must be {len(self.parameters)}")
        for i, (array, param) in enumerate(zip(after, self.parameters, strict=True)):
            if not isinstance(array, np.ndarray) or array.dtype != param.dtype or array.shape != param.shape:
                is_array = isinstance(array, np.ndarray)
                got = f"{array.dtype} of shape {array.shape}" if is_array else f"a {type(array).__name__}, no array"
                must = f"{param.dtype} of shape {param.shape}"
                raise TargetFault(f"step {self.taken} returned parameter {i} as {got}, must be {must}")
        return list(after)

    @staticmethod
    def _hold(given: Sequence[Array | None], original: Sequence[Array | None], what: str) -> None:
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
    except (Exception, SystemExit) as error:
        raise TargetFault(f"raised {type(error).__name__}: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
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
