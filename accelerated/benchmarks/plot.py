"""Draws a benchmark run: ours, the fastest peer and the touch limit for each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

SIZES = ((1, 10_000_000), (1_000, 10_000))
"""The numbers of tensors and of elements that are drawn, in float32."""

OURS, PEER, LIMIT = "#1b6ca8", "#b9b9b9", "#222222"


def draw(rows: Sequence[Row], file: Path) -> None:
    """Write the picture as SVG, the same for the same rows; nothing where no row is of `SIZES`.

    Bars are nanoseconds for each parameter, shorter is faster; a stroke is the touch limit.
    """
    chosen = [size for size in SIZES if _of(rows, size)]
    if not chosen:
        return
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "optimetry", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(5 * len(chosen), 5), layout="constrained")
        for axes, (tensors, elements) in zip(figure.subplots(1, len(chosen), squeeze=False)[0], chosen, strict=True):
            found = _of(rows, (tensors, elements))
            edge = 4 * max(ours for ours, _, _ in found.values())
            for place, (ours, peer, limit) in enumerate(reversed(found.values())):
                axes.barh(place + 0.2, ours, 0.38, color=OURS, label="ours (numba)" if place == 0 else None)
                if peer:
                    name = "fastest peer" if place == 0 else None
                    axes.barh(place - 0.2, peer["nanoseconds"], 0.38, color=PEER, label=name)
                    beyond = peer["nanoseconds"] > 0.7 * edge
                    text = f" {peer['contender']}, {peer['nanoseconds']:.1f} " if beyond else f" {peer['contender']}"
                    at = min(peer["nanoseconds"], edge)
                    axes.text(at, place - 0.2, text, va="center", ha="right" if beyond else "left", fontsize=7)
                name = "touch limit" if place == 0 else None
                axes.vlines(limit, place - 0.4, place + 0.4, color=LIMIT, label=name)
            axes.set_yticks(range(len(found)), list(reversed(found)))
            axes.set_xlim(0, edge)
            axes.set_xlabel("ns per parameter")
            axes.set_title(f"float32, {tensors:,} x {elements:,}")
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(loc="lower right", frameon=False)
        figure.savefig(file, format="svg", metadata={"Date": None})


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
