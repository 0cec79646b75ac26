"""Writes tables of a benchmark run: ``python -m optimetry.accelerated.benchmarks.tables RUN.json --out DIR``.

What was run on a CUDA device gets a page of its own, ``cuda.md``; all else is on ``speed.md``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
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
bfloat16, ours in float32. *\N{PLUS-MINUS SIGN}* is half the distance of the quartiles of the times, as a share of the
median."""

THREADS = " *threads* is how many ran at once, processor time by time in the round where most did."

MACHINE = ("arch", "brand_raw", "count", "hz_actual_friendly", "l2_cache_size", "l3_cache_size")
"""The fields of the description of a processor that are kept."""


def measured(run: Mapping[str, Any]) -> dict[str, list[Row]]:
    """Return what a run of pytest-benchmark measured, as rows of its tables."""
    extra = [bench["extra_info"] for bench in run["benchmarks"]]
    names = {"processes": "process", "figures": "figures"}
    rows = {name: [row for info in extra for row in info.get(name, [])] for name in ("rows", "cuda")}
    return rows | {name: [info[key] for info in extra if key in info] for name, key in names.items()}


def text_of(run: Mapping[str, Any]) -> str:
    """Write the tables of a run of pytest-benchmark as Markdown; the same run gives the same text."""
    tables = measured(run)
    rows, processes, all_figures = (tables[name] for name in ("rows", "processes", "figures"))
    machine = run["machine_info"]
    peers = ", ".join(f"{name} {version}" for name, version in versions().items())
    setting = (
        f"Processor: {machine['cpu'].get('brand_raw', 'unknown')}, {machine['cpu'].get('count', '?')} "
        f"processors, Python {machine['python_version']}. Peers: {peers or 'none'}. Contenders took turns; figures are "
        "medians of one run."
    )
    parts = ["# Speed of the accelerated backend", setting, timed_with(sorted({row["rule"] for row in rows}))]
    parts += [READING + THREADS, *_sections(rows)]
    if processes:
        parts += ["## Whole processes", tabulate(processes, headers="keys", tablefmt="github", floatfmt=".2f")]
    for figures in map(dict, all_figures):
        parts += [f"## {figures.pop('of')}", tabulate([figures], headers="keys", tablefmt="github", floatfmt=".4g")]
    return "\n\n".join(parts) + "\n"


def cuda_text_of(run: Mapping[str, Any]) -> str:
    """Write the tables of what a run timed on CUDA devices, as Markdown; the same run gives the same text."""
    rows = measured(run)["cuda"]
    devices = sorted({bench["extra_info"]["device"] for bench in run["benchmarks"] if "device" in bench["extra_info"]})
    setting = f"Device: {'; '.join(devices)}. Contenders took turns; figures are medians of one run, timed with events."
    parts = ["# Speed on CUDA", setting, timed_with(sorted({row["rule"] for row in rows})), READING, *_sections(rows)]
    return "\n\n".join(parts) + "\n"


def _sections(rows: Sequence[Row]) -> Iterator[str]:
    """Write a heading and a table for each dtype and size."""
    for about in sorted({(row["dtype"], row["tensors"], row["elements"]) for row in rows}, key=_order):
        dtype, tensors, elements = about
        yield f"## {dtype}, {tensors:,} x {elements:,} elements"
        yield _table([row for row in rows if (row["dtype"], row["tensors"], row["elements"]) == about])


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
    columns = [column for column in COLUMNS if column != "threads" or any(row.get(column) for row in rows)]
    cells = [[_cell(column, row.get(column)) for column in columns] for row in ordered]
    sides = ["left" if column in ("rule", "contender") else "right" for column in columns]
    names = [COLUMNS[column] for column in columns]
    table: str = tabulate(cells, names, "github", disable_numparse=True, colalign=sides)
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
    arguments.out.mkdir(parents=True, exist_ok=True)
    tables = measured(run)
    if on_cuda := tables.pop("cuda"):
        write(arguments.out, "cuda", {"cuda": on_cuda}, cuda_text_of(run))
        draw(on_cuda, arguments.out / "cuda.svg", "cuda", ((1, 100_000_000), (1_000, 10_000)))
    if not any(tables.values()):
        return
    machine = {name: run["machine_info"]["cpu"].get(name) for name in MACHINE}
    write(arguments.out, "speed", {"machine": machine, "versions": versions(), **tables}, text_of(run))
    rows = tables["rows"]
    draw(rows, arguments.out / "speed.svg")
    draw_sweep(rows, arguments.out / "sweep.svg")
    dtypes, rules = (sorted({row[column] for row in rows}) for column in ("dtype", "rule"))
    ours = "accelerated", metadata.version("optimetry")
    header = header_of(*ours, dtypes=dtypes, optimizers=rules, seed=0, effort="none")
    add(arguments.out / "results.jsonl", Results(header, speed=[Speed(**row) for row in rows]))


def write(out: Path, stem: str, figures: Mapping[str, Any], text: str) -> None:
    """Write figures as JSON, and a page of them."""
    (out / f"{stem}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (out / f"{stem}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
