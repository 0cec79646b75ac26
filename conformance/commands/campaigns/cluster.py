"""Gives tasks to a cluster of Dask, a bounded number at a time, and yields what they find as they finish."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Self

from optimetry.conformance.commands.campaigns.on_worker import Site, end_pools, findings_of, site_of
from optimetry.conformance.commands.workers.jobs import AnyJob, Task
from optimetry.reference.errors import CampaignError, OptimetryError, UsageError

LOCAL = "local"

AHEAD = 64
"""How many tasks for each thread of the cluster are under way or waiting there, so that none waits for the client."""

LOST = "the scheduler is lost; what is finished is kept, and the same command goes on behind it"

COUNTED_EVERY = 1.0
"""Seconds after which the threads of the cluster are counted anew."""

PATIENCE = "10s"
"""How long a scheduler may take to answer."""

STARTING = "60s"
"""How long its first worker may take to start."""

LOGGERS = ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny", "distributed.worker")
"""Dask's loggers, whose levels it sets one by one."""


class Cluster:
    """A cluster of Dask: one of this machine's own, or the one at an address.

    Args:
        task: the settings of every task.
        scheduler: the address, or `LOCAL`.
        workers: how many workers a local cluster has.

    Raises:
        UsageError: Dask is not installed, or no scheduler answers at the address.
    """

    def __init__(self, task: Task, scheduler: str, workers: int) -> None:
        try:
            import distributed
        except ImportError:
            raise UsageError(
                f"--scheduler {scheduler}: needs Dask: pip install -e 'path/to/optimetry[cluster]'; "
                "or use --scheduler none"
            ) from None
        self._distributed = distributed
        self._task = task
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # `CampaignError` reports what is lost
        self._local = None
        if scheduler == LOCAL:
            self._local = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=0,  # the target's memory is another process's
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        try:
            self._client = distributed.Client(self._local or scheduler, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"--scheduler {scheduler}: no scheduler answers there ({error}); must be `none`, `local`, or an "
                "address such as tcp://host:8786"
            ) from None
        self.dashboard = str(self._client.dashboard_link)

    @property
    def threads(self) -> int:
        """How many tasks the cluster does at once."""
        return sum(self._client.nthreads().values())

    def site(self) -> Site:
        """Load the target on a worker; return that worker's site.

        Raises:
            TargetError: it cannot be loaded.
            CampaignError: there is no worker.
        """
        try:
            self._client.wait_for_workers(1, timeout=STARTING)
        except TimeoutError:
            raise CampaignError(f"the cluster has no worker after {STARTING}") from None
        future = self._client.submit(site_of, self._task, pure=False)
        self._distributed.wait([future])
        if future.status != "finished":
            raise _failure(future)
        site: Site = future.result()
        return site

    def finished(
        self,
        take: Callable[[], tuple[int, AnyJob] | None],
        site: Site,
        do: Callable[[Task, Site, AnyJob], list[Any]] = findings_of,
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number and the findings of each task as soon as it is done, in any order.

        A task of a worker that is lost is given to another one.

        Args:
            take: returns the next task with its number, or None while there is none.
            site: what every worker must be like.
            do: does one task, there.

        Raises:
            TargetError: a worker cannot load the target, or is not like the others.
            CampaignError: the scheduler is lost, or a task took too many workers with it.
        """
        try:
            yield from self._finished(take, site, do)
        except OSError:  # Dask's connections raise these
            raise CampaignError(LOST) from None

    def _finished(
        self, take: Callable[[], tuple[int, AnyJob] | None], site: Site, do: Callable[[Task, Site, AnyJob], list[Any]]
    ) -> Iterator[tuple[int, list[Any]]]:
        done = self._distributed.as_completed([])
        numbers: dict[str, int] = {}
        limit, counted = AHEAD * self.threads, time.monotonic()
        while True:
            if time.monotonic() - counted > COUNTED_EVERY:  # workers come and go
                limit, counted = AHEAD * self.threads, time.monotonic()
            taken = list(islice(iter(take, None), max(limit - len(numbers), 0)))
            if taken:
                futures = self._client.map(partial(do, self._task, site), [job for _, job in taken], pure=False)
                numbers |= {future.key: number for future, (number, _) in zip(futures, taken, strict=True)}
                done.update(futures)
            if not numbers:
                return
            yield from self._findings(done.next_batch(), numbers)

    def _findings(self, futures: list[Any], numbers: dict[str, int]) -> Iterator[tuple[int, list[Any]]]:
        """Yield the findings of tasks that are done; then raise the error of one that has failed."""
        sound = [future for future in futures if future.status == "finished"]
        try:
            results = self._client.gather(sound)
        except self._distributed.client.FutureCancelledError:
            raise CampaignError(LOST) from None
        for future, findings in zip(sound, results, strict=True):
            yield numbers.pop(future.key), findings
        for future in futures:
            if future.status != "finished":
                raise _failure(future)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._client.run(end_pools)
        self._client.close()
        if self._local is not None:
            self._local.close()


def _failure(future: Any) -> OptimetryError:
    """Return the error of a task that has failed: how the target or the cluster is at fault."""
    error = future.exception() if future.status == "error" else None
    if error is None:
        return CampaignError(LOST)
    if isinstance(error, OptimetryError):
        return error
    return CampaignError(f"the cluster did not finish a task: {type(error).__name__}: {error}")
