"""Runs a pipeline on threads: each section of a program has its own, and scopes pass through bounded queues.

What a section computes is the reference's; the order of work depends on the machine. With one scope the result is that
of plain training. With more it depends on the order in which micro-batches enter and leave sections. The trace records
that order, and `PipelineOptimizer.repeat` must compute the same bits from it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from queue import Queue
from typing import Any

from optimetry.reference.programs.executor import Executor
from optimetry.reference.programs.pipeline import PipelineOptimizer
from optimetry.reference.programs.program import Variable
from optimetry.reference.programs.schedule import Turn
from optimetry.reference.programs.traffic import Trace, Traffic

DONE = None
"""Marks the end of a queue."""


def train(
    optimizer: PipelineOptimizer,
    executor: Executor,
    feeds: Iterable[Mapping[str, Any]],
    fetch_list: Iterable[Variable | str] = (),
) -> Trace:
    """Train on micro-batches, with as many threads for each section as the concurrency list says.

    Arguments and result are those of `PipelineOptimizer.train`. An exception in a section stops the pipeline and is
    raised here; the updates before it stay.
    """
    traffic = optimizer.traffic(executor, feeds, fetch_list)
    workers = _Workers(traffic, optimizer.concurrency_list, optimizer.queue_size)
    workers.run()
    return traffic.trace()


class _Workers:
    """The threads and queues of one run. No writer waits: a queue has room for all scopes."""

    def __init__(self, traffic: Traffic, concurrency: list[int], queue_size: int) -> None:
        self.traffic = traffic
        self.queues: list[Queue[int | None]] = [Queue(queue_size + count) for count in concurrency]  # room for DONE
        self.free: Queue[None] = Queue(queue_size)
        for _ in range(queue_size):
            self.free.put(None)
        self.gate = threading.Lock()
        self.failure: BaseException | None = None
        self.threads = [
            [threading.Thread(target=self._work, args=(section,), daemon=True) for _ in range(count)]
            for section, count in enumerate(concurrency)
        ]

    def run(self) -> None:
        """Feed every micro-batch, wait until all have passed through, and end the threads."""
        for thread in (thread for threads in self.threads for thread in threads):
            thread.start()
        for micro_batch in range(len(self.traffic.scopes)):
            self.free.get()
            if self.failure is not None:
                break
            self.queues[0].put(micro_batch)
        for queue, threads in zip(self.queues, self.threads, strict=True):
            for _ in threads:
                queue.put(DONE)
            for thread in threads:
                thread.join()
        if self.failure is not None:
            raise self.failure

    def _work(self, section: int) -> None:
        """Take scopes until there are no more. After a failure anywhere, scopes are passed on untouched."""
        while (micro_batch := self.queues[section].get()) is not DONE:
            if self.failure is None:
                try:
                    self._take(Turn(section, micro_batch))
                except BaseException as failure:  # raised again by the caller of `train`
                    self.failure = failure
            if section + 1 < len(self.queues):
                self.queues[section + 1].put(micro_batch)
            else:
                self.free.put(None)

    def _take(self, turn: Turn) -> None:
        with self.gate:
            self.traffic.enter(turn)
        self.traffic.compute(turn)
        with self.gate:
            self.traffic.leave(turn)
