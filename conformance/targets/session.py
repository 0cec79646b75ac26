"""Runs a target on a case, and checks the protocol at every step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.numerics.environment import changes, default_environment
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.wrappers.wrapper import WrapperSubject
from optimetry.conformance.targets.protocol import Target
from optimetry.reference.errors import TargetFault, TargetHung

NUMPY_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""How NumPy handles floating-point errors by default, which every target is started with."""

STRETCH = 100
"""The steps that are watched as one run: a run of thousands takes an honest target, too, its time."""


@dataclass(frozen=True)
class Guard:
    """Watches over each run of a target.

    Attributes:
        time_limit: seconds one run may take, and each further `STRETCH` of a longer one.
        heartbeat: called before each of them.
    """

    time_limit: float = 60.0
    heartbeat: Callable[[], None] = lambda: None


def trajectory(target: Target, case: Case, guard: Guard, *, fresh: Sequence[int] = ()) -> Array:
    """Run a target and return its results after every step, shape (steps, elements), in the case's dtype.

    Args:
        target: one engine.
        case: what it is fed.
        guard: what watches over the run.
        fresh: the parameters whose gradients come in an array of their own at every step; see `Session`.

    Raises:
        TargetFault: the target raised, took too long, returned other shapes or dtypes, changed its inputs, or changed
            how this process computes.
    """
    after = np.empty((len(case.grads), case.size), case.form.dtype)
    session = None
    for start in range(0, max(len(after), 1), STRETCH):
        with watched(guard):
            session = session or Session(target, case, fresh)
            for step, (grads, rate) in islice(enumerate(case.steps), start, start + STRETCH):
                after[step] = flat(session.step(grads, rate))
    return after


class Session:
    """A run of a target, fed as a training loop feeds it; checks that its inputs are not changed.

    The target gets copies of the parameters, and each parameter's gradients in one buffer that is overwritten before
    every step, so that a target that keeps the buffer sees its contents change. The parameters in ``fresh`` get a
    new array at every step instead. All are arrays, 0-d ones too, with memory of their own, C-contiguous and writeable.

    Attributes:
        run: what the target has started.

    Raises:
        TargetFault: as for `trajectory`.
    """

    def __init__(self, target: Target, case: Case, fresh: Sequence[int] = ()) -> None:
        self.case, self.fresh = case, fresh
        self.taken = 0
        self.parameters = [np.array(param, order="C") for param in case.parameters]
        self.buffers = [np.empty_like(param) for param in self.parameters]
        subject = subject_of(case)
        self._wrapper = subject if isinstance(subject, WrapperSubject) else None
        start: Any = target.start if self._wrapper is None else getattr(target, "start_wrapper", None)
        self.run: Any = start(case.optimizer, dict(case.hyper), list(self.parameters))
        self._hold(self.parameters, case.parameters, "start changed parameter")

    def step(self, grads: Sequence[Array | None], rate: float) -> list[Array]:
        """Feed one more step, and return the result: for an average, what it puts into the parameters."""
        given = self._fed(grads)
        if self._wrapper is None:
            after = self.run.step(list(given), rate)
        elif not self._wrapper.averages:
            after = self.run.transform(list(given))
        else:
            self.run.update(list(given))
            after = copied(self.run.apply())
            self.run.restore()
        self._hold_inputs(given, grads)
        return self._checked(after)

    def update(self, parameters: Sequence[Array | None]) -> None:
        """Feed an average one more step, without applying it."""
        given = self._fed(parameters)
        self.run.update(list(given))
        self._hold_inputs(given, parameters)

    def _fed(self, grads: Sequence[Array | None]) -> list[Array | None]:
        """Return the gradients in the arrays that the target is given."""
        self.taken += 1
        for i in self.fresh:
            self.buffers[i] = np.empty_like(self.buffers[i])
        for buffer, grad in zip(self.buffers, grads, strict=True):
            if grad is not None:
                buffer[...] = grad
        return [None if grad is None else buffer for buffer, grad in zip(self.buffers, grads, strict=True)]

    def _checked(self, after: Any) -> list[Array]:
        if not isinstance(after, list | tuple):
            raise TargetFault(f"step {self.taken} returned {type(after).__name__}, must be a list of parameters")
        if len(after) != len(self.parameters):
            raise TargetFault(f"step {self.taken} returned {len(after)} parameters, must be {len(self.parameters)}")
        for i, (array, param) in enumerate(zip(after, self.parameters, strict=True)):
            is_array = isinstance(array, np.ndarray | np.generic)  # a scalar is what arithmetic makes of 0-d arrays
            if not is_array or array.dtype != param.dtype or array.shape != param.shape:
                got = f"{array.dtype} of shape {array.shape}" if is_array else f"a {type(array).__name__}, no array"
                must = f"{param.dtype} of shape {param.shape}"
                raise TargetFault(f"step {self.taken} returned parameter {i} as {got}, must be {must}")
        return [np.asarray(array) for array in after]

    def _hold_inputs(self, given: Sequence[Array | None], grads: Sequence[Array | None]) -> None:
        self._hold(given, grads, f"step {self.taken} changed gradient")
        self._hold(self.parameters, self.case.parameters, f"step {self.taken} changed parameter")

    @staticmethod
    def _hold(given: Sequence[Array | None], original: Sequence[Array | None], what: str) -> None:
        for i, (array, before) in enumerate(zip(given, original, strict=True)):
            if array is not None and before is not None and not same_bits(array, before):
                raise TargetFault(f"{what} {i}, an input")


def copied(arrays: Any) -> Any:
    """Copy arrays that the target may change with its next call; what is no list of arrays stays as it is."""
    if not isinstance(arrays, list | tuple):
        return arrays
    return [np.array(array) if isinstance(array, np.ndarray) else array for array in arrays]


def hold_contents(target: Target, case: Case, guard: Guard) -> None:
    """Check that a target uses the contents of a gradient's array, not the array, which the next step overwrites.

    Raises:
        TargetFault: it keeps the array of a gradient; or as for `trajectory`.
    """
    shared = trajectory(target, case, guard)
    fresh = trajectory(target, case, guard, fresh=range(len(case.parameters)))
    if same_bits(shared, fresh):
        return
    # Two more runs: one alone would have the same bits where every other run differs, which a law reports.
    if not all(same_bits(shared, trajectory(target, case, guard)) for _ in range(2)):
        return
    for i in range(len(case.parameters)):
        if not same_bits(shared, trajectory(target, case, guard, fresh=[i])):
            raise TargetFault(
                f"keeps the array of gradient {i} instead of its contents, where the next step's gradient is written"
            )


@contextmanager
def watched(guard: Guard) -> Iterator[None]:
    """Report as a fault what a run raises, a run that does not end, and a changed floating-point environment.

    What it changes is set back behind it, so that the next run is not taken to have changed it.
    """
    guard.heartbeat()
    try:
        with _alarm(guard.time_limit), default_environment(), np.errstate(**NUMPY_DEFAULT):  # type: ignore[arg-type]
            yield
            _hold_environment()
    except TargetFault:
        raise
    except (Exception, SystemExit) as error:
        raise TargetFault(f"raised {type(error).__name__}: {_one_line(error)}") from error


def _hold_environment() -> None:
    found = changes()
    if np.geterr() != NUMPY_DEFAULT:
        changed = ", ".join(f"{k}={v!r}" for k, v in np.geterr().items() if v != NUMPY_DEFAULT[k])
        found.append(f"np.seterr({changed})")
    if found:
        raise TargetFault(f"changed how this process computes: {', '.join(found)}")


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
