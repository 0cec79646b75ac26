"""Keeps threads that wait for work, one set for each process: compiled loops run without the interpreter's lock.

Numba's own threads are not used: an OpenMP runtime dies in a forked child, and the alternative in the wheel when two
threads call it at once. Threads of Python survive both. Nor is a ``ThreadPoolExecutor``: after a pass over memory
nothing else is in the cache, and then its futures take longer than a hundred thousand elements.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

PAUSE = 5e-5
"""Seconds between two checks of the other threads."""

ALONE = 1 << 18
"""The least number of elements that is worth waking another thread."""


def processors() -> int:
    """Return how many threads may work: ``OMP_NUM_THREADS`` if set, else the processors this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worthwhile(threads: int, elements: int) -> int:
    """Return how many threads are worth waking."""
    return min(threads, 1 + elements // ALONE)


class Share:
    """A task that one thread may run, unless it is taken back before."""

    def __init__(self, task: Callable[[], None]) -> None:
        self._task = [task]
        self.ended = False
        self.error: BaseException | None = None

    def do(self) -> None:
        """Run the task."""
        try:
            task = self._task.pop()
        except IndexError:  # taken back
            return
        try:
            task()
        except BaseException as error:
            self.error = error
        self.ended = True

    def take_back(self) -> bool:
        """Withdraw the task; return whether no thread had begun it."""
        try:
            self._task.pop()
        except IndexError:
            return self.ended
        return True


def together(task: Callable[[], None], threads: int, is_done: Callable[[], bool]) -> None:
    """Run the same task on several threads, this one included, and return when all is done.

    The task must be one that ends when nothing is left to take, whoever took it; ``is_done`` says whether all that was
    taken is done, too. A thread that has not even started by then is not waited for. An exception of any thread, or an
    interrupt, is raised only when the others have ended: nothing is written after this has returned.
    """
    shares = [Share(task) for _ in range(threads - 1)]
    try:
        _helpers.offer(shares)
        task()
        while not is_done():
            for share in shares:
                if share.error is not None:
                    raise share.error
            time.sleep(PAUSE)
    except BaseException:
        _settled(shares)
        raise


def _settled(shares: list[Share]) -> None:
    """Wait until no thread works on any of them."""
    while shares:
        try:
            shares = [share for share in shares if not share.take_back()]
            time.sleep(PAUSE)
        except KeyboardInterrupt:  # the first is on its way already
            continue


class Helpers:
    """Threads that wait for shares, started when they are first needed; they end with the process."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all threads: a forked child has none of its parent's."""
        self._queue: SimpleQueue[Share] = SimpleQueue()
        self._started = 0

    def offer(self, shares: list[Share]) -> None:
        """Give each task to a thread."""
        for share in shares:
            self._queue.put(share)
        while self._started < len(shares):
            self._started += 1
            Thread(target=_work, args=(self._queue,), name=f"optimetry-{self._started}", daemon=True).start()


def _work(queue: SimpleQueue[Share]) -> None:
    while True:
        queue.get().do()


_helpers = Helpers()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.forget)
