"""Draws the pictures of the explanation, from the rules and the bounds themselves: no figure is written by hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.effect import default_case
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.known.points import at
from optimetry.conformance.numerics.agreement import SLACK, compare
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import State
from optimetry.reference.rules import rule_named
from optimetry.reports.site.plots import FAINT, MARKERS, SERIES, TEXT, THEME, drawing, themed

RULE, DTYPE = "adam", "float32"
FORM = FORMATS[DTYPE]
OTHER = "scaled_epsilon"
"""The dialect that most frameworks compute."""

CASES = 20
SIZES = 10.0 ** np.arange(-10, 3)
"""The standard deviations of gradients."""


def operations() -> Iterator[tuple[str, float]]:
    """The numbers of a first step by their names in `update`, each with its bound in units of roundoff."""
    rule = rule_named(RULE)()
    exact = [Bounded.exact(np.array([number]), FORM) for number in (1.0, 0.3)]
    zeros = State(**{slot: Bounded.exact(np.array([0.0]), FORM) for slot in rule.slots})
    lr = Bounded.scalar(rule.learning_rate, FORM)
    numbers = locals_of(rule.update, *exact, zeros, lr, 1)
    updated, _ = rule.update(*exact, zeros, lr, 1)
    for name, number in [*numbers.items(), ("new param", updated)]:
        if isinstance(number, Bounded) and np.any(number.bound):
            yield name, float(np.ravel(number.bound)[0] / abs(np.ravel(number.value)[0]) / 2.0**-24)


def locals_of(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Call a function, and return its local names as they were at its end, arguments aside."""
    values: dict[str, Any] = {}

    def watch(frame: Any, event: str, _: Any) -> Any:
        if event == "return" and frame.f_code is function.__code__:
            values.update(frame.f_locals)
        return watch

    sys.settrace(watch)
    try:
        function(*arguments)
    finally:
        sys.settrace(None)
    argument_names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name: value for name, value in values.items() if name not in argument_names}


def other(hyper: Mapping[str, Any], name: str = OTHER) -> Any:
    """Return the formula of a dialect."""
    dialect = next(dialect for dialect in DIALECTS[RULE] if dialect.name == name)
    return at(RULE, dialect.point, hyper)


def steps() -> Mapping[str, Any]:
    """The bound over the steps, and the largest differences of the rule and of another one."""
    case = default_case(RULE, DTYPE, 1e-6)
    case = replace(case, parameters=(case.parameters[0][:64],), grads=tuple((grads[0][:64],) for grads in case.grads))
    documented, dialect = expected(case), expected(case, other(case.hyper))
    ours = trajectory(NumpyTarget(), case, Guard()).astype(np.float64)
    return {
        "bound": documented.bound.max(axis=1),
        "documented rule, NumPy float32": np.abs(ours - documented.value).max(axis=1),
        f"the dialect {OTHER}": np.abs(dialect.value - documented.value).max(axis=1),
    }


def ratios() -> dict[str, float]:
    """The error ratio of the documented rule in NumPy and of each dialect, on the same drawn cases."""
    cases = list(drawn_cases(subject_named(RULE), DTYPE, seed=0, count=CASES))
    ratio_of = {}
    with np.errstate(all="ignore"):
        for dialect in DIALECTS[RULE]:
            formula = [np.asarray(expected(case, at(RULE, dialect.point, case.hyper)).value) for case in cases]
            ratio_of[dialect.name] = _ratio(cases, formula)
        ours = [trajectory(NumpyTarget(), case, Guard()) for case in cases]
    return {"documented rule, NumPy float32": _ratio(cases, ours), **dict(sorted(ratio_of.items(), key=lambda x: x[1]))}


def _ratio(cases: Any, trajectories: Any) -> float:
    pairs = zip(cases, trajectories, strict=True)
    return max(compare(np.asarray(after).astype(FORM.dtype), expected(case), FORM).share for case, after in pairs)


def gradients() -> dict[str, list[float]]:
    """How far each dialect ends from the documented rule, as a share of its way, by the size of gradients."""
    shares: dict[str, list[float]] = {dialect.name: [] for dialect in DIALECTS[RULE]}
    for size in SIZES:
        case = default_case(RULE, "float32", float(size))
        case = replace(case, parameters=(case.parameters[0][:64],), grads=tuple((g[0][:64],) for g in case.grads))
        documented = np.asarray(expected(case).value)
        moved = np.abs(documented - case.parameters[0]).max()
        for dialect in DIALECTS[RULE]:
            value = np.asarray(expected(case, at(RULE, dialect.point, case.hyper)).value)
            shares[dialect.name].append(float(np.abs(value - documented).max() / moved))
    return shares


def draw_operations(axes: Any) -> None:
    """Draw a bar for each number."""
    names, units = zip(*operations(), strict=True)
    places = range(len(names))[::-1]
    axes.barh(places, units, 0.6, color=SERIES[0])
    for place, number in zip(places, units, strict=True):
        axes.text(number, place, f" {number:.1f}", va="center")
    axes.set_yticks(places, names, family="monospace")
    axes.set_xlim(0, 1.15 * max(units))
    axes.set_xlabel("bound, in units of $u\\,|x|$")


def draw_steps(axes: Any) -> None:
    """Draw differences over the steps, and what is below the bound."""
    curves = steps()
    numbers = np.arange(1, len(curves["bound"]) + 1)
    looks: list[dict[str, Any]] = [{"color": TEXT, "lw": 2}, {"color": SERIES[0]}, {"color": SERIES[1], "ls": "--"}]
    for (name, values), look in zip(curves.items(), looks, strict=True):
        axes.plot(numbers, values, label=name, **look)
    axes.fill_between(numbers, curves["bound"], 1e-9, color=FAINT, alpha=0.15, lw=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1e-8)
    axes.set_xlabel("step")
    axes.set_ylabel("difference of a parameter")


def draw_ratios(axes: Any) -> None:
    """Draw a point for each formula; what no number holds stands at the edge."""
    ratio_of = ratios()
    places = range(len(ratio_of))[::-1]
    edge = 1e14
    for place, ratio in zip(places, ratio_of.values(), strict=True):
        honest = ratio <= SLACK
        axes.plot(min(ratio, edge), place, "o" if honest else MARKERS[1], color=SERIES[0 if honest else 1], ms=6)
        if ratio > edge:
            axes.annotate(
                "beyond ",
                (edge, place),
                ha="right",
                va="center",
                fontsize=8,
                xytext=(-6, 0),
                textcoords="offset points",
            )
        axes.axhline(place, color=FAINT, lw=0.4, alpha=0.4, zorder=0)
    axes.axvspan(1e-1, SLACK, color=SERIES[0], alpha=0.12, lw=0)
    axes.axvline(SLACK, color=TEXT, lw=1, ls=":")
    axes.text(SLACK * 2, len(ratio_of) - 0.2, "the slack, 2", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(1e-1, edge * 4)
    axes.set_yticks(places, ratio_of)
    axes.set_xlabel("error ratio: difference / bound")


def draw_gradients(axes: Any) -> None:
    """Draw the variants that N(0, 1) gradients show least, the others faint."""
    curves = {name: values for name, values in gradients().items() if np.isfinite(values).all()}
    least = sorted(curves, key=lambda name: curves[name][list(SIZES).index(1.0)])[:5]
    for name, values in curves.items():
        if name not in least:
            axes.plot(SIZES, values, color=FAINT, lw=0.8, alpha=0.5)
    for place, name in enumerate(least):
        axes.plot(SIZES, curves[name], color=SERIES[place], marker=MARKERS[place], ms=4, label=name)
    axes.axhline(1e-5, color=TEXT, lw=1, ls=":", label="rtol=1e-5")
    axes.axvline(1, color=TEXT, lw=1, alpha=0.4)
    axes.text(1.2, 2, "N(0, 1)", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-9, 1e1)
    axes.set_xlabel("standard deviation of gradients")
    axes.set_ylabel("difference / way")


PICTURES: dict[str, tuple[Callable[[Any], None], tuple[float, float], str]] = {
    "operations": (
        draw_operations,
        (4.8, 2.2),
        "Bars: the bound of each number of the first step, in units of roundoff",
    ),
    "steps": (
        draw_steps,
        (4.8, 3.4),
        "Lines over 100 steps: the documented rule stays below the bound, the dialect scaled_epsilon is far above it",
    ),
    "ratios": (
        draw_ratios,
        (4.8, 5.2),
        "Points: the error ratio of the documented rule is below 1, that of every known dialect above 100,000",
    ),
    "gradients": (
        draw_gradients,
        (4.8, 4.2),
        "Lines: the smaller the gradients are, the further dialects of epsilon end from the documented rule",
    ),
}
"""How each picture is drawn, its size in inches, and what it shows, in words."""


def svg(name: str) -> str:
    """Draw a picture, the same in every build, to stand within a page."""
    draw, size, _ = PICTURES[name]
    with drawing(*size) as figure:
        axes = figure.subplots()
        draw(axes)
        axes.minorticks_off()
        if axes.get_legend_handles_labels()[1]:
            figure.legend(loc="outside lower center", ncols=2, frameon=False)
        return within(themed(figure), name)


def within(text: str, name: str) -> str:
    """Leave out what only a file of its own needs, and make names unique among pictures of one page."""
    text = re.sub(r"<style>.*?</style>", "", text[text.index("<svg") :], count=1)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    return re.sub(r'(url\(|href=")#', rf"\1#{name}-", text)


def colours() -> str:
    """Write the colours of pictures as a style sheet, for the themes of the site."""
    light, dark = ("".join(f"{row[0]}:{row[i]};" for row in THEME.values()) for i in (1, 2))
    automatic = f"@media(prefers-color-scheme:dark){{body:not([data-theme=light]) .picture{{{dark}}}}}"
    return f".picture{{{light}}}body[data-theme=dark] .picture{{{dark}}}{automatic}"
