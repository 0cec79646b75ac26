"""Writes tables of a benchmark run: ``python -m optimetry.accelerated.benchmarks.tables RUN.json --out DIR``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tabulate import tabulate

from optimetry.accelerated.benchmarks.measuring import hyper_of
from optimetry.accelerated.benchmarks.plot import draw, draw_sweep
from optimetry.conformance.targets.peers import versions
from optimetry.reports.header import header_of
from optimetry.reports.keeping import add
from optimetry.reports.results import Results
from optimetry.reports.speed import Speed

Row = Mapping[str, Any]

COLUMNS = {
    "rule": "rule",
    "contender": "contender",
    "threads": "threads",
    "nanoseconds": "ns per parameter",
    "spread": "\N{PLUS-MINUS SIGN}",
    "bytes": "bytes per parameter",
    "gigabytes_per_second": "GB/s",
    "touch_share": "share of touch limit",
    "peer_ratio": "times as fast as the fastest peer",
}


READING = """\
*touch* is a kernel that reads and writes the same arrays as ours, with one addition in place of the formula: what
memory allows. Bytes are those that ours moves; torch moves fewer for bfloat16 parameters, whose state it keeps in
bfloat16, ours in float32. *threads* is how many ran at once, processor time by time in the round where most did, and
*\N{PLUS-MINUS SIGN}* half the distance of the quartiles of the times, as a share of the median."""

MACHINE = ("arch", "brand_raw", "count", "hz_actual_friendly", "l2_cache_size", "l3_cache_size")
"""The fields of the description of a processor that are kept."""


def measured(run: Mapping[str, Any]) -> dict[str, list[Row]]:
    """Return what a run of pytest-benchmark measured, as rows of its tables."""
    extra = [bench["extra_info"] for bench in run["benchmarks"]]
    names = {"cuda": "cuda", "processes": "process", "figures": "figures"}
    rows = {"rows": [row for info in extra for row in info.get("rows", [])]}
    return rows | {name: [info[key] for info in extra if key in info] for name, key in names.items()}


def text_of(run: Mapping[str, Any]) -> str:
    """Write the tables of a run of pytest-benchmark as Markdown; the same run gives the same text."""
    rows, cuda, processes, all_figures = measured(run).values()
    machine = run["machine_info"]
    peers = ", ".join(f"{name} {version}" for name, version in versions().items())
    setting = (
        f"Processor: {machine['cpu'].get('brand_raw', 'unknown')}, {machine['cpu'].get('count', '?')} "
        f"processors, Python {machine['python_version']}. Peers: {peers or 'none'}. Contenders took turns; figures are "
        "medians of one run."
    )
    parts = ["# Speed of the accelerated backend", setting, timed_with(sorted({row["rule"] for row in rows})), READING]
    for dtype, tensors, elements in sorted(
        {(row["dtype"], row["tensors"], row["elements"]) for row in rows}, key=_order
    ):
        chosen = [row for row in rows if (row["dtype"], row["tensors"], row["elements"]) == (dtype, tensors, elements)]
        parts += [f"## {dtype}, {tensors:,} x {elements:,} elements", _table(chosen)]
    if cuda:
        parts += ["## CUDA", tabulate(cuda, headers="keys", tablefmt="github", floatfmt=".2f", missingval="-")]
    if processes:
        parts += ["## Whole processes", tabulate(processes, headers="keys", tablefmt="github", floatfmt=".2f")]
    for figures in map(dict, all_figures):
        parts += [f"## {figures.pop('of')}", tabulate([figures], headers="keys", tablefmt="github", floatfmt=".4g")]
    return "\n\n".join(parts) + "\n"


def timed_with(rules: Sequence[str]) -> str:
    """Say with which hyperparameters these rules were timed."""
    values = {rule: " and ".join(f"{name} = {value}" for name, value in hyper_of(rule).items()) for rule in rules}
    exceptions = (f"{rule} with {numbers}" for rule, numbers in values.items() if numbers)
    return "; ".join(["Rules have the documented defaults", *exceptions]) + "."


def _order(size: tuple[str, int, int]) -> tuple[bool, str, int, int]:
    """Sort float32 first."""
    return size[0] != "float32", *size


def _table(rows: Sequence[Row]) -> str:
    ordered = sorted(rows, key=lambda row: (row["rule"], row["nanoseconds"]))
    cells = [[_cell(column, row.get(column)) for column in COLUMNS] for row in ordered]
    sides = ["left" if column in ("rule", "contender") else "right" for column in COLUMNS]
    table: str = tabulate(cells, list(COLUMNS.values()), "github", disable_numparse=True, colalign=sides)
    return table


def _cell(column: str, value: Any) -> str:
    """Write a figure; a run of an older version lacks some, and without peers there is no ratio to one."""
    if isinstance(value, float):
        return format(value, {"spread": ".0%", "threads": ".1f"}.get(column, ".2f"))
    return "-" if value is None else str(value)


def main() -> None:
    """Read a run; write tables, pictures, and the rows as results for ``optimetry report``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="what pytest-benchmark wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tables")
    arguments = parser.parse_args()
    run = json.loads(arguments.run.read_text(encoding="utf-8"))
    tables = measured(run)
    rows = tables["rows"]
    kept = {
        "machine": {name: run["machine_info"]["cpu"].get(name) for name in MACHINE},
        "versions": versions(),
        **tables,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "speed.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (arguments.out / "speed.md").write_text(text_of(run), encoding="utf-8")
    draw(rows, arguments.out / "speed.svg")
    draw_sweep(rows, arguments.out / "sweep.svg")
    dtypes, rules = (sorted({row[column] for row in rows}) for column in ("dtype", "rule"))
    ours = "accelerated", metadata.version("optimetry")
    header = header_of(*ours, dtypes=dtypes, optimizers=rules, seed=0, effort="none")
    add(arguments.out / "results.jsonl", Results(header, speed=[Speed(**row) for row in rows]))


if __name__ == "__main__":
    main()
