"""Draws pictures for the site as SVG, whose colours follow the reader's theme, light or dark."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from optimetry.reports.accuracy import LARGEST, Accuracy
from optimetry.reports.speed import TOUCH, Speed

THEME = {
    "#010101": ("--text", "#1c1f23", "#e8eaed"),
    "#020202": ("--faint", "#5a6270", "#a6adb8"),
    "#030303": ("--grid", "#d9dce1", "#363c44"),
    "#110000": ("--a", "#0b57a4", "#8ab8f5"),
    "#220000": ("--b", "#b45309", "#f2a65a"),
    "#330000": ("--c", "#0f6b3a", "#6fd39b"),
    "#440000": ("--d", "#8e24aa", "#d8a3e8"),
    "#550000": ("--e", "#b3261e", "#ff9d94"),
    "#660000": ("--f", "#5a6270", "#a6adb8"),
}
"""The placeholder of each colour while a picture is drawn, its name, and its value on light and on dark ground."""

TEXT, FAINT, GRID, *SERIES = THEME
MARKERS = "osD^vXP*<>hp"
"""A marker for each of `SERIES`, and for each again: a colour alone says nothing to many readers."""

DASHES = ("-", "--", ":")
"""The lines of curves that have each of `SERIES`, those that have it again, and those that have it once more."""

SHOWN = len(SERIES)
"""How many targets one picture has room for."""

SIZE = (3.8, 4.2)
"""The size of a picture of two panels, in inches."""

GRADIENTS = {"normal": "N(0, 1) gradients", "training": "gradients of a training"}

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

STYLE = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": GRID,
    "svg.fonttype": "none",
    "svg.hashsalt": "optimetry",
    "text.color": TEXT,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[Any]:
    """Give a figure of this size, in inches, to draw on in `STYLE`."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def drift(measured: Sequence[tuple[str, Accuracy]]) -> str:
    """Draw the error of the update over the steps: its median as a line, its 99th percentile dotted.

    Args:
        measured: of one rule and dtype, with the name of the curve; curves of one name are drawn alike.

    Returns:
        The picture; the same for the same figures.
    """
    names = _names(measured)
    kinds = [kind for kind in GRADIENTS if any(each.gradients == kind for _, each in measured)]
    with drawing(SIZE[0], SIZE[1] * (1 + len(kinds)) / 3) as figure:
        panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, kind in zip(panels, kinds, strict=True):
            _drift(axes, [(name, each) for name, each in measured if each.gradients == kind], names)
            axes.set_title(GRADIENTS[kind], loc="left", fontsize=9)
        for axes in panels:
            _with_two_powers(axes)
        panels[-1].set_xlabel("steps")
        figure.supylabel("error / update", fontsize=9)
        legend(figure, "lower", 2)
        return themed(figure)


def drifts(measured: Mapping[str, Sequence[tuple[str, Accuracy]]]) -> str:
    """Draw the same for several rules: a row for each, a column for each kind of gradients.

    Args:
        measured: what `drift` takes, by the rule's name.
    """
    names = _names([curve for curves in measured.values() for curve in curves])
    with drawing(9, 0.9 + 1.9 * len(measured)) as figure:
        panels = figure.subplots(len(measured), len(GRADIENTS), sharex=True, sharey="row", squeeze=False)
        for row, (rule, curves) in zip(panels, measured.items(), strict=True):
            for axes, (kind, title) in zip(row, GRADIENTS.items(), strict=True):
                _drift(axes, [(name, each) for name, each in curves if each.gradients == kind], names)
                axes.set_title(f"{rule}, {title}".replace("$", r"\$"), loc="left", fontsize=9)
            _with_two_powers(row[0])
        figure.supxlabel("steps", fontsize=9)
        figure.supylabel("error / update", fontsize=9)
        legend(figure, "upper", 3)
        return themed(figure)


def _names(measured: Sequence[tuple[str, Accuracy]]) -> list[str]:
    """Return the names of the curves that there is room for."""
    return list(dict.fromkeys(name for name, _ in measured))[:SHOWN]


def _drift(axes: Any, measured: Sequence[tuple[str, Accuracy]], names: Sequence[str]) -> None:
    """Draw the curves of one panel."""
    for name, each in measured:
        if name in names:
            _curve(axes, each, names.index(name), len(names), name.replace("$", r"\$"))  # a name is no formula
    _ruled(axes, logarithmic=any(0 < value < LARGEST for line in axes.lines for value in line.get_ydata()))


def _ruled(axes: Any, *, logarithmic: bool = True) -> None:
    """Give a panel a grid and a logarithmic abscissa, and with ``logarithmic`` such an ordinate."""
    axes.grid(visible=True)
    axes.set_axisbelow(True)
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        if axis is axes.xaxis or logarithmic:
            scale("log")
            axis.set_major_formatter(_power)
    axes.minorticks_off()


def _with_two_powers(axes: Any) -> None:
    """Widen a logarithmic ordinate until two powers of ten are on it: fewer do not say what a distance means.

    To be called once every panel that shares the ordinate has its curves.
    """
    if axes.get_yscale() == "log":
        least, most = (math.log10(limit) for limit in axes.get_ylim())
        if math.ceil(least) >= math.floor(most):
            axes.set_ylim(10.0 ** math.floor(least), 10.0 ** math.ceil(most))


def _power(value: float, _: int | None = None) -> str:
    """Write a power of ten as text: the default sets ticks as formulas, which takes most of the time of a picture."""
    return "10" + str(round(math.log10(value))).translate(RAISED)


def legend(figure: Any, side: str, columns: int) -> None:
    """Name the curves of all panels once."""
    named = (zip(*axes.get_legend_handles_labels(), strict=True) for axes in figure.axes)
    handles = {label: line for panel in named for line, label in panel}
    figure.legend(handles.values(), handles.keys(), loc=f"outside {side} center", ncols=columns, frameon=False)


def _curve(axes: Any, measured: Accuracy, place: int, places: int, name: str) -> None:
    """Draw one target's curves; earlier ones are wider, so that equal ones stay visible below later ones."""
    steps = [point.step for point in measured.points]
    width = 1.2 + 1.1 * (places - 1 - place)
    for values, style, label in (
        ([point.update.median for point in measured.points], "-", name),
        ([point.update.p99 for point in measured.points], ":", None),
    ):
        shown = [value if 0 < value < LARGEST else math.nan for value in values]
        marker = MARKERS[place] if label else None
        axes.plot(
            steps, shown, style, color=SERIES[place], lw=width, marker=marker, ms=3 + width, label=label, alpha=0.9
        )


def sweep(rows: Sequence[Speed], names: Mapping[str, str]) -> str:
    """Draw nanoseconds for each element over the size of one parameter: a line a contender, memory dashed.

    Args:
        rows: of one rule, dtype and number of parameters, out of one run.
        names: the names of contenders; a contender without one is left out.
    """
    with drawing(SIZE[0], SIZE[0] * 0.8) as figure:
        axes = figure.subplots()
        for place, contender in enumerate([name for name in names if name != TOUCH][:SHOWN]):
            _sweep(axes, rows, contender, names[contender], {"color": SERIES[place], "marker": MARKERS[place]})
        _sweep(axes, rows, TOUCH, names.get(TOUCH, TOUCH), {"color": TEXT, "ls": "--", "marker": "_"})
        _ruled(axes)
        axes.set_xlabel("elements of one parameter")
        axes.set_ylabel("ns / element")
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        return themed(figure)


def _sweep(axes: Any, rows: Sequence[Speed], contender: str, name: str, look: Mapping[str, Any]) -> None:
    mine = sorted((row.elements, row.nanoseconds) for row in rows if row.contender == contender)
    if mine:
        axes.plot(*zip(*mine, strict=True), label=name.replace("$", r"\$"), lw=1.5, ms=5, **look)


ACROSS = 3
"""How many panels stand beside each other in a picture of many."""


def effects(measured: Mapping[str, Mapping[str, Mapping[float, float]]]) -> str:
    """Draw how far parameters end from the documented rule, over the size of gradients.

    Args:
        measured: for each rule, which gets a panel, and each curve, the effect by the standard deviation of gradients;
            one that is not finite, or 0, is left out.
    """
    names = dict.fromkeys(name for curves in measured.values() for name in curves)
    looks = {
        name: {
            "color": SERIES[i % SHOWN],
            "marker": MARKERS[i % len(MARKERS)],
            "ls": DASHES[i // SHOWN % len(DASHES)],
            "lw": 1.2 + 0.5 * (len(names) - 1 - i),  # equal curves stay visible below later ones
            "ms": 4 + 0.5 * (len(names) - 1 - i),
        }
        for i, name in enumerate(names)
    }
    lines = {
        rule: {
            name: [(size, value) for size, value in sorted(values.items()) if 0 < value < LARGEST]
            for name, values in curves.items()
        }
        for rule, curves in measured.items()
    }
    return panels(lines, looks, "standard deviation of gradients", "difference / distance moved")


def panels(
    measured: Mapping[str, Mapping[str, Sequence[tuple[float, Any]]]],
    looks: Mapping[str, Mapping[str, Any]],
    abscissa: str,
    ordinate: str,
) -> str:
    """Draw a panel for each rule, both axes logarithmic.

    Args:
        measured: for each rule and curve its points.
        looks: how a curve of each name looks; those of other names are left out.
        abscissa: the label of the abscissa.
        ordinate: that of the ordinate.
    """
    down = max(1, -(-len(measured) // ACROSS))
    with drawing(3 * ACROSS, 0.8 + 2 * down) as figure:
        free = figure.subplots(down, ACROSS, sharex=True, sharey=True, squeeze=False).flat
        for axes, (rule, curves) in zip(free, measured.items(), strict=False):
            for name, points in curves.items():
                if name in looks and points:
                    axes.plot(*zip(*points, strict=True), label=name, **{"lw": 1.5, "ms": 4, **looks[name]})
            axes.set_title(rule, loc="left", fontsize=9)
            _ruled(axes)
        for axes in free:  # panels without a rule
            axes.set_visible(False)
        figure.supxlabel(abscissa, fontsize=9)
        figure.supylabel(ordinate, fontsize=9)
        legend(figure, "upper", SHOWN)
        return themed(figure)


def themed(figure: Any) -> str:
    """Write a figure as SVG, with the colours of the theme in place of their placeholders."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    for drawn, (name, _, _) in THEME.items():
        text = text.replace(drawn, f"var({name})")
    light, dark = ("".join(f"{row[0]}:{row[i]};" for row in THEME.values()) for i in (1, 2))
    style = f"<style>:root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    return re.sub(r"(<svg [^>]*>)", rf"\1{style}", text, count=1)
