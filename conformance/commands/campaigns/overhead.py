"""Measures what a task costs beside its own work: ``python -m optimetry.conformance.commands.campaigns.overhead``.

Tasks that do nothing go to a cluster of Dask, and what they find into a file, as in `optimetry campaign`. Prints the
time for each, the processor time of the client and of the scheduler for each, and the most memory that both have held.
A local cluster has its scheduler in the process of the client: an address tells them apart.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.certify.worst import Worst, WorstSearch
from optimetry.conformance.commands.campaigns.cluster import LOCAL, Cluster
from optimetry.conformance.commands.campaigns.finished import FILE, Finished
from optimetry.conformance.commands.campaigns.on_worker import Site
from optimetry.conformance.commands.campaigns.plan import CampaignPlan, SearchPart
from optimetry.conformance.commands.workers.jobs import AnyJob, Loaded, Task
from optimetry.conformance.commands.workers.launching import Launch


def nothing(task: Task, site: Site, job: AnyJob) -> list[Any]:
    """Do no work, and find something of the usual size."""
    return [Worst(0.5)]


def main() -> None:
    """Run so many tasks, and print what they cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--scheduler", default=LOCAL)
    options = parser.parse_args()
    task, site = Task(Launch("nothing"), EFFORTS["quick"], 0), Site(Loaded("", "", {}, []), "", "")
    plan = CampaignPlan([SearchPart(WorstSearch(starts=options.tasks), "sgd", "float32", 0, "default")])
    with Cluster(task, options.scheduler, 2) as cluster, tempfile.TemporaryDirectory() as folder:
        before, began, client, scheduler = _peak(), time.monotonic(), time.process_time(), _of_scheduler(_processor)
        with closing(Finished(Path(folder) / FILE, {}, plan)) as finished:
            for number, findings in cluster.finished(finished.take, site, nothing):
                finished.add(number, findings)
            took, client = time.monotonic() - began, time.process_time() - client
            merged = sum(1 for _ in finished.in_order())
        scheduler = _of_scheduler(_processor) - scheduler
        print(
            f"{merged:,} tasks: {1e3 * took / merged:.2f} ms each; processor of the client {1e3 * client / merged:.2f} "
            f"ms, of the scheduler {1e3 * scheduler / merged:.2f} ms; peak memory of the client {before:.0f} MiB "
            f"before them, {_peak():.0f} behind, of the scheduler {_of_scheduler(_peak):.0f}"
        )


def _of_scheduler(function: Callable[[], float]) -> float:
    """Return what a function gives in the process of the scheduler."""
    from distributed import default_client

    return float(default_client().run_on_scheduler(function))


def _processor() -> float:
    return time.process_time()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
