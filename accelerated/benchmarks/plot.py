"""Draws a benchmark run: ours, the fastest peer and the touch limit for each rule, and times over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optimetry.reports.site.plots import FAINT, MARKERS, SERIES, TEXT, drawing, legend, panels, themed
from optimetry.reports.speed import TOUCH

Row = Mapping[str, Any]

SIZES = ((1, 10_000_000), (1_000, 10_000))
"""The numbers of tensors and of elements that are drawn, in float32."""

OURS, PEER, LIMIT = SERIES[0], FAINT, TEXT

LINES: dict[str, dict[str, str]] = {
    "ours (numba)": {"color": OURS, "marker": MARKERS[0]},
    "fastest peer": {"color": SERIES[1], "marker": MARKERS[1]},
    "touch limit": {"color": LIMIT, "marker": "_", "ls": "--"},
}
"""How the lines of the sweep look, in the order of `_of`."""


def draw(rows: Sequence[Row], file: Path, engine: str = "numba", sizes: Sequence[tuple[int, int]] = SIZES) -> None:
    """Write the picture as SVG for both themes, the same for the same rows; nothing where no row is of these sizes.

    Bars are nanoseconds for each parameter, shorter is faster; a stroke is the touch limit. Where the bar of a peer is
    cut off, its figure is behind it.
    """
    chosen = {size: times for size in sizes if (times := _of(rows, size, engine))}
    if not chosen:
        return
    rules = max(map(len, chosen.values()))
    with drawing(5 * len(chosen), 1 + 0.25 * rules) as figure:
        row = figure.subplots(1, len(chosen), squeeze=False)[0]
        for axes, ((tensors, elements), times) in zip(row, chosen.items(), strict=True):
            edge = 4 * max(ours for ours, _, _ in times.values())
            for place, (ours, peer, limit) in enumerate(reversed(times.values())):
                axes.barh(place + 0.2, ours, 0.38, color=OURS, label=f"ours ({engine})")
                if peer:
                    axes.barh(place - 0.2, peer["nanoseconds"], 0.38, color=PEER, alpha=0.4, label="fastest peer")
                    figures = f", {peer['nanoseconds']:.1f}" if peer["nanoseconds"] > edge else ""
                    at = min(peer["nanoseconds"], edge)
                    axes.text(at, place - 0.2, f" {peer['contender']}{figures}", va="center", fontsize=7)
                axes.vlines(limit, place, place + 0.4, color=LIMIT, label="touch limit")
            axes.set_yticks(range(len(times)), list(reversed(times)), fontsize=8)
            axes.set_ylim(-0.6, len(times) - 0.4)
            axes.set_xlim(0, edge)
            axes.set_xlabel("ns per parameter")
            axes.set_title(f"float32, {tensors:,} x {elements:,}")
        legend(figure, "upper", len(LINES))
        file.write_text(themed(figure), encoding="utf-8")


def draw_sweep(rows: Sequence[Row], file: Path) -> None:
    """Write nanoseconds over the size of one tensor in float32 as SVG for both themes, a panel for each rule.

    Nothing is written where no rule has at least three sizes.
    """
    times: dict[str, dict[int, tuple[float, float | None, float]]] = {}
    for size in sorted({(row["tensors"], row["elements"]) for row in rows if row["tensors"] == 1}):
        for rule, (ours, peer, limit) in _of(rows, size, "numba").items():
            times.setdefault(rule, {})[size[1]] = ours, peer["nanoseconds"] if peer else None, limit
    times = {rule: by_size for rule, by_size in times.items() if len(by_size) >= 3}
    if not times:
        return
    lines = {
        rule: {
            name: [(size, of_size[place]) for size, of_size in by_size.items() if of_size[place] is not None]
            for place, name in enumerate(LINES)
        }
        for rule, by_size in times.items()
    }
    file.write_text(panels(lines, LINES, "elements of one tensor, float32", "ns per parameter"), encoding="utf-8")


def _of(rows: Sequence[Row], size: tuple[int, int], engine: str) -> dict[str, tuple[float, Row | None, float]]:
    """Return for each rule the time of our engine, the fastest peer's row, and the touch limit."""
    times = {}
    mine = [row for row in rows if (row["dtype"], row["tensors"], row["elements"]) == ("float32", *size)]
    for rule in dict.fromkeys(row["rule"] for row in mine):
        contenders = {row["contender"]: row for row in mine if row["rule"] == rule}
        if engine in contenders:
            ours = contenders[engine]
            peer = contenders.get(ours["peer"]) if ours["peer"] else None
            times[rule] = ours["nanoseconds"], peer, contenders[TOUCH]["nanoseconds"]
    return times
