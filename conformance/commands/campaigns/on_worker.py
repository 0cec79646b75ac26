"""What a worker of a cluster runs: each task in a process beside it, which has loaded the target and is kept."""

from __future__ import annotations

import multiprocessing
import threading
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from optimetry.conformance.commands.workers.jobs import AnyJob, Loaded, Task
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.reference.errors import TargetError
from optimetry.reports.header import platform_here

_LOCK = threading.Lock()
_IDLE: dict[Task, list[Workers]] = {}
"""The pools of one process each that no task uses now. Those of another campaign are ended by the next."""


class Site(NamedTuple):
    """What results depend on beside the task: the same on all workers, or a worker is refused."""

    loaded: Loaded
    platform: str
    optimetry: str


def site_of(task: Task) -> Site:
    """Load the target, and return this worker's site.

    Raises:
        TargetError: it cannot be loaded.
    """
    pool = _taken(task)
    _give_back(task, pool)
    return site_at(pool)


def findings_of(task: Task, site: Site, job: AnyJob) -> list[Any]:
    """Do one task; a target that hangs or crashes is a finding, as for `optimetry check`.

    Raises:
        TargetError: the target cannot be loaded, or this worker is not like the others.
    """
    pool = _taken(task)
    try:
        here = site_at(pool)
        for name, ours, theirs in zip(Site._fields, here, site, strict=True):
            if ours != theirs:
                raise TargetError(f"a worker differs: {name} is {ours}, and {theirs} where the campaign began")
        (findings,) = pool.run([job])
    except BaseException:
        pool.stop()
        raise
    _give_back(task, pool)
    return findings


def end_pools() -> None:
    """End the processes that no task uses."""
    with _LOCK:
        pools = [pool for idle in _IDLE.values() for pool in idle]
        _IDLE.clear()
    for pool in pools:
        pool.stop()


def site_at(pool: Workers) -> Site:
    """Return the site of a pool."""
    return Site(pool.loaded, *_here())


@cache
def _here() -> tuple[str, str]:
    """Return the platform and the version of optimetry, which are looked up once: every task asks."""
    return platform_here(), metadata.version("optimetry")


def _give_back(task: Task, pool: Workers) -> None:
    with _LOCK:
        _IDLE.setdefault(task, []).append(pool)


def _taken(task: Task) -> Workers:
    """Return an idle pool for these tasks, or a new one."""
    with _LOCK:
        if _IDLE.get(task):
            return _IDLE[task].pop()
    end_pools()
    multiprocessing.current_process().daemon = False  # Dask's nanny makes it one, and daemons may start no processes
    return Workers(task, 1).__enter__()
