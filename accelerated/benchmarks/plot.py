"""Draws a benchmark run: ours, the fastest peer and the touch limit for each rule, and times over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optimetry.reports.site.plots import FAINT, MARKERS, SERIES, STYLE, TEXT, themed

Row = Mapping[str, Any]

SIZES = ((1, 10_000_000), (1_000, 10_000))
"""The numbers of tensors and of elements that are drawn, in float32."""

OURS, PEER, LIMIT = SERIES[0], FAINT, TEXT

ACROSS = 4
"""The panels in one row of the sweep."""

LINES: dict[str, dict[str, str]] = {
    "ours (numba)": {"color": OURS, "marker": MARKERS[0]},
    "fastest peer": {"color": SERIES[1], "marker": MARKERS[1]},
    "touch limit": {"color": LIMIT, "marker": "_", "ls": "--"},
}
"""How the lines of the sweep look, in the order of `_of`."""


def draw(rows: Sequence[Row], file: Path) -> None:
    """Write the picture as SVG for both themes, the same for the same rows; nothing where no row is of `SIZES`.

    Bars are nanoseconds for each parameter, shorter is faster; a stroke is the touch limit. Where the bar of a peer is
    cut off, its figure is behind it.
    """
    chosen = {size: found for size in SIZES if (found := _of(rows, size))}
    if not chosen:
        return
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        rules = max(map(len, chosen.values()))
        figure = Figure(figsize=(5 * len(chosen), 1 + 0.25 * rules), layout="constrained")
        panels = figure.subplots(1, len(chosen), squeeze=False)[0]
        for axes, ((tensors, elements), found) in zip(panels, chosen.items(), strict=True):
            edge = 4 * max(ours for ours, _, _ in found.values())
            for place, (ours, peer, limit) in enumerate(reversed(found.values())):
                axes.barh(place + 0.2, ours, 0.38, color=OURS, label="ours (numba)")
                if peer:
                    axes.barh(place - 0.2, peer["nanoseconds"], 0.38, color=PEER, alpha=0.4, label="fastest peer")
                    figures = f", {peer['nanoseconds']:.1f}" if peer["nanoseconds"] > edge else ""
                    at = min(peer["nanoseconds"], edge)
                    axes.text(at, place - 0.2, f" {peer['contender']}{figures}", va="center", fontsize=7)
                axes.vlines(limit, place, place + 0.4, color=LIMIT, label="touch limit")
            axes.set_yticks(range(len(found)), list(reversed(found)), fontsize=8)
            axes.set_ylim(-0.6, len(found) - 0.4)
            axes.set_xlim(0, edge)
            axes.set_xlabel("ns per parameter")
            axes.set_title(f"float32, {tensors:,} x {elements:,}")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        of_each = dict(zip(labels, handles, strict=True))
        figure.legend(of_each.values(), of_each.keys(), loc="outside upper center", ncols=len(of_each), frameon=False)
        file.write_text(themed(figure), encoding="utf-8")


def draw_sweep(rows: Sequence[Row], file: Path) -> None:
    """Write nanoseconds over the size of one tensor in float32 as SVG for both themes, a panel for each rule.

    Nothing is written where no rule has at least three sizes.
    """
    times: dict[str, dict[int, tuple[float, float | None, float]]] = {}
    for size in sorted({(row["tensors"], row["elements"]) for row in rows if row["tensors"] == 1}):
        for rule, (ours, peer, limit) in _of(rows, size).items():
            times.setdefault(rule, {})[size[1]] = ours, peer["nanoseconds"] if peer else None, limit
    times = {rule: found for rule, found in times.items() if len(found) >= 3}
    if not times:
        return
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        down = -(-len(times) // ACROSS)
        figure = Figure(figsize=(10, 1 + 2 * down), layout="constrained")
        panels = figure.subplots(down, ACROSS, sharex=True, sharey=True, squeeze=False).flat
        for axes, (rule, found) in zip(panels, times.items(), strict=False):
            for place, (name, look) in enumerate(LINES.items()):
                line = [(size, found[size][place]) for size in found if found[size][place] is not None]
                if line:
                    axes.plot(*zip(*line, strict=True), label=name, lw=1.5, ms=4, **look)
            axes.set_title(rule, loc="left", fontsize=9)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.grid(visible=True)
            axes.minorticks_off()
        for axes in panels:  # those that are left
            axes.set_visible(False)
        figure.supxlabel("elements of one tensor, float32", fontsize=9)
        figure.supylabel("ns per parameter", fontsize=9)
        handles = {str(line.get_label()): line for axes in figure.axes for line in axes.lines}
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(LINES), frameon=False)
        file.write_text(themed(figure), encoding="utf-8")


def _of(rows: Sequence[Row], size: tuple[int, int]) -> dict[str, tuple[float, Row | None, float]]:
    """Return for each rule our time, the fastest peer's row, and the touch limit."""
    found = {}
    mine = [row for row in rows if (row["dtype"], row["tensors"], row["elements"]) == ("float32", *size)]
    for rule in dict.fromkeys(row["rule"] for row in mine):
        times = {row["contender"]: row for row in mine if row["rule"] == rule}
        if "numba" in times:
            ours = times["numba"]
            peer = times.get(ours["peer"]) if ours["peer"] else None
            found[rule] = ours["nanoseconds"], peer, times["touch"]["nanoseconds"]
    return found
