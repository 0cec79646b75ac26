"""Threads that wait for work, one set for the process: compiled loops run without the interpreter's lock.

Not Numba's own threads: an OpenMP runtime dies in a forked child, and the alternative in the wheel when two threads
call it at once. A pool of Python threads survives both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

_pool: ThreadPoolExecutor | None = None
_size = 0


def processors() -> int:
    """How many threads may work: ``OMP_NUM_THREADS`` where it is set, else the processors this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def together(task: Callable[[], None], threads: int) -> None:
    """Run the same task on so many threads, this one among them, and return when all have ended.

    The task must be one that ends when nothing is left to do, whoever did it. An exception, an interrupt among them, is
    raised only at the end: nothing is written after this has returned.
    """
    running = [_threads(threads - 1).submit(task) for _ in range(threads - 1)]
    raised: BaseException | None = None
    try:
        task()
    except BaseException as error:
        raised = error
    for future in running:
        if not future.cancel():  # a helper that has not even started is not waited for: there is nothing left to do
            raised = _ended(future) or raised
    if raised is not None:
        raise raised


def _ended(future: Future[None]) -> BaseException | None:
    raised: BaseException | None = None
    while not future.done():
        try:
            wait([future])
        except BaseException as error:
            raised = error
    return future.exception() or raised


def _threads(count: int) -> ThreadPoolExecutor:
    global _pool, _size
    if _pool is None or count > _size:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool, _size = ThreadPoolExecutor(count, "optimetry"), count
    return _pool


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _pool, _size
    _pool, _size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
