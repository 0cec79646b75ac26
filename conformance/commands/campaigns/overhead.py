"""Measures what a task costs beside its own work: ``python -m optimetry.conformance.commands.campaigns.overhead``.

Tasks that do nothing go to a cluster of Dask, and what they find into a file, as in `optimetry campaign`. Prints the
time for each, the processor time of this process for each, and the most memory that this process has held.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.certify.worst import Search, Worst
from optimetry.conformance.commands.campaigns.cluster import LOCAL, Cluster
from optimetry.conformance.commands.campaigns.finished import FILE, Finished
from optimetry.conformance.commands.campaigns.on_worker import Site
from optimetry.conformance.commands.campaigns.plan import Plan, SearchPart
from optimetry.conformance.commands.jobs import AnyJob, Loaded, Task
from optimetry.conformance.commands.launching import Launch


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
    plan = Plan([SearchPart(Search(starts=options.tasks), "sgd", "float32", 0, "default")])
    with Cluster(task, options.scheduler, 2) as cluster, tempfile.TemporaryDirectory() as folder:
        before, began, processor = _peak(), time.monotonic(), time.process_time()
        with closing(Finished(Path(folder) / FILE, {}, plan)) as finished:
            for number, findings in cluster.finished(finished.take, site, nothing):
                finished.add(number, findings)
            took, own = time.monotonic() - began, time.process_time() - processor
            merged = sum(1 for _ in finished.in_order())
        print(
            f"{merged:,} tasks: {1e3 * took / merged:.2f} ms each, of which the client's processor "
            f"{1e3 * own / merged:.2f} ms; peak memory of the client {before:.0f} MiB before them, {_peak():.0f} behind"
        )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
