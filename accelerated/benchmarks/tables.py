"""Tables of a benchmark run: ``python -m optimetry.accelerated.benchmarks.tables RUN.json --out DIR``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

Row = Mapping[str, Any]

COLUMNS = {
    "rule": "rule",
    "contender": "contender",
    "nanoseconds": "ns per parameter",
    "bytes": "bytes per parameter",
    "gigabytes_per_second": "GB/s",
    "touch_share": "share of touch limit",
    "peer_ratio": "times as fast as the fastest peer",
}


def text_of(run: Mapping[str, Any]) -> str:
    """The tables of a run that pytest-benchmark wrote, as Markdown; the same run gives the same text."""
    rows: list[Row] = [row for bench in run["benchmarks"] for row in bench["extra_info"].get("rows", [])]
    processes: list[Row] = [b["extra_info"]["process"] for b in run["benchmarks"] if "process" in b["extra_info"]]
    cuda: list[Row] = [b["extra_info"]["cuda"] for b in run["benchmarks"] if "cuda" in b["extra_info"]]
    machine = run["machine_info"]
    setting = (
        f"Processor: {machine['cpu'].get('brand_raw', 'unknown')}, {machine['cpu'].get('count', '?')} "
        f"processors, Python {machine['python_version']}. Contenders took turns; figures are medians of one run."
    )
    parts = ["# Speed of the accelerated backend", setting]
    for dtype, tensors, elements in sorted({(row["dtype"], row["tensors"], row["elements"]) for row in rows}):
        chosen = [row for row in rows if (row["dtype"], row["tensors"], row["elements"]) == (dtype, tensors, elements)]
        parts += [f"## {dtype}, {tensors:,} x {elements:,} elements", _table(chosen)]
    if cuda:
        parts += ["## CUDA", tabulate(cuda, headers="keys", tablefmt="github", floatfmt=".2f", missingval="-")]
    if processes:
        parts += ["## Whole processes", tabulate(processes, headers="keys", tablefmt="github", floatfmt=".2f")]
    for figures in (dict(b["extra_info"]["figures"]) for b in run["benchmarks"] if "figures" in b["extra_info"]):
        parts += [f"## {figures.pop('of')}", tabulate([figures], headers="keys", tablefmt="github", floatfmt=".4g")]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Row]) -> str:
    ordered = sorted(rows, key=lambda row: (row["rule"], row["nanoseconds"]))
    cells = [[row[column] for column in COLUMNS] for row in ordered]
    table: str = tabulate(cells, headers=list(COLUMNS.values()), tablefmt="github", floatfmt=".2f", missingval="-")
    return table


def main() -> None:
    """Read a run, write ``speed.json`` and ``speed.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="what pytest-benchmark wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tables")
    arguments = parser.parse_args()
    run = json.loads(arguments.run.read_text(encoding="utf-8"))
    kept = {
        "machine": run["machine_info"]["cpu"],
        "rows": [row for bench in run["benchmarks"] for row in bench["extra_info"].get("rows", [])],
        "cuda": [b["extra_info"]["cuda"] for b in run["benchmarks"] if "cuda" in b["extra_info"]],
        "processes": [b["extra_info"]["process"] for b in run["benchmarks"] if "process" in b["extra_info"]],
        "figures": [b["extra_info"]["figures"] for b in run["benchmarks"] if "figures" in b["extra_info"]],
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "speed.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (arguments.out / "speed.md").write_text(text_of(run), encoding="utf-8")


if __name__ == "__main__":
    main()
