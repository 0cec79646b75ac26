"""Measures how large differences are in practice: ``python -m optimetry.conformance.commands.effects FOLDER...``.

What was measured stands in ``effects.json`` beside the results; where that file is, nothing is measured again.
``--python FRAMEWORK=PYTHON`` names the interpreter that has a framework which is installed apart.

A verdict says that a framework computes another rule, and by how many rounding errors it shows at its worst. A user
asks what that does to a training run. Here the framework runs beside the documented rule, with default hyperparameters
on ordinary and on small gradients, and on the drawn cases that the verdict came from.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.commands.files.results_folder import write
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.judging.effect import default_case, effect
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.loading import load_target, program_command, program_target
from optimetry.conformance.targets.protocol import Target
from optimetry.reference.errors import TargetFault
from optimetry.reference.rules import RULES
from optimetry.reports.results import Results, Verdict, file_of, read
from optimetry.reports.site.plots import effects as effects_over_size

CASES = 80

SCALES = {"N(0, 1) gradients": 1.0, "gradients of 1e-6": 1e-6}
"""The standard deviation of gradients in the runs with default hyperparameters whose figures stand in the table."""

SIZES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2)
"""The standard deviations in the picture, those of `SCALES` among them."""

FILE = "effects.json"
"""The file of effects in a folder of results."""

ABOUT = ("optimizer", "dtype", "engine")
"""The names under which a record has `Verdict.about`."""

LINES = """\
Each framework ran beside the documented rule on the same numbers. A figure is the largest difference of a parameter,
as a share of how far the documented rule moved the one it moved most: 1e-3 is a step a thousandth too long or short,
1 is another step altogether, inf a parameter that the documented rule leaves alone. *worst* is the largest after any
step of the drawn cases that the verdict rests on; hyperparameters there are at their corners. The other columns are the
documented defaults for a hundred steps; where the document gives none, the first corner that the rule declares
(momentum 0.9) and learning rate 0.001. A hyperparameter that the framework has no argument for has the value that it
can have.
Rounding is part of each figure, and most of those in float32 that are below 1e-2."""


@dataclass(frozen=True)
class Effect:
    """The effect of a difference: differences of parameters as shares of how far the documented rule moves them.

    Attributes:
        target: the target's name.
        verdict: the verdict it stands behind.
        by_size: in runs with default hyperparameters, by the standard deviation in `SIZES`.
        worst: the largest in the drawn cases.
    """

    target: str
    verdict: Verdict
    by_size: dict[float, float]
    worst: float

    @property
    def at_defaults(self) -> dict[str, float]:
        """Return the effects that stand in the table."""
        return {name: self.by_size[size] for name, size in SCALES.items()}

    def record(self) -> dict[str, Any]:
        """Return the record that `recorded` reads; infinity, which JSON lacks, is a string."""
        by_size = {str(size): _written(share) for size, share in self.by_size.items()}
        return dict(zip(ABOUT, self.verdict.about, strict=True)) | {"by_size": by_size, "worst": _written(self.worst)}


def _written(share: float) -> float | str:
    return share if math.isfinite(share) else str(share)


def effects(target: Target, results: Results) -> Iterator[Effect]:
    """Measure the effect of each difference from a rule, once for all engines and dtypes: in float64 where it shows.

    In float32 rounding would be part of it.
    """
    engines = {engine_name(engine): engine for engine in engines_of(target)}
    measured = set()
    for verdict in sorted(results.verdicts, key=lambda verdict: (verdict.optimizer, verdict.dtype != "float64")):
        difference = (verdict.optimizer, str(verdict.computes))
        if (
            verdict.optimizer not in RULES
            or verdict.verdict not in ("imprecise", "dialect", "diverges")
            or difference in measured
        ):
            continue
        measured.add(difference)
        engine = engines[verdict.engine]
        limits = limits_of(engine, verdict.optimizer)
        subject, seed = subject_named(verdict.optimizer), results.header.seed
        cases = drawn_cases(subject, verdict.dtype, seed=seed, count=CASES, limits=limits)
        yield Effect(
            target=results.header.target,
            verdict=verdict,
            by_size={
                size: effect(engine, default_case(verdict.optimizer, verdict.dtype, size)) or 0.0
                for size in (SIZES if verdict.dtype == "float64" else SCALES.values())
            },
            worst=max(worst(engine, case) for case in cases),
        )


def worst(target: Target, case: Case) -> float:
    """Measure the effect in a drawn case; 0 where the target fails, which has a verdict of its own."""
    try:
        return effect(target, case) or 0.0
    except TargetFault:
        return 0.0


def table(entries: Iterable[Effect]) -> str:
    """Write the effects as a Markdown table."""
    rows = [
        [
            entry.target,
            f"`{entry.verdict.optimizer}`",
            entry.verdict.dtype,
            f"`{entry.verdict.computes}`" if str(entry.verdict.computes) else entry.verdict.verdict,
            *(f"{share:.1e}" for share in (*entry.at_defaults.values(), entry.worst)),
        ]
        for entry in entries
    ]
    return tabulate(rows, ["framework", "rule", "dtype", "computes", *SCALES, "worst"], "pipe", disable_numparse=True)


def page(entries: Iterable[Effect], shown: str = "") -> str:
    """Write the effects as a Markdown page, with what is shown above the table."""
    return f"# How large the differences are\n\n{LINES}\n\n{shown}{table(entries)}\n"


def picture(entries: Iterable[Effect]) -> str:
    """Draw the effects of each rule in float64 over the size of gradients, a curve for each framework's largest."""
    largest: dict[str, dict[str, dict[float, float]]] = {}
    for entry in entries:
        if len(entry.by_size) == len(SIZES):
            curve = largest.setdefault(entry.verdict.optimizer, {}).setdefault(entry.target, {})
            curve |= {size: max(value, curve.get(size, 0.0)) for size, value in entry.by_size.items()}
    return effects_over_size(dict(sorted(largest.items())))


def loaded(name: str, pythons: Mapping[str, str]) -> Target:
    """Load a framework's target, or start it under the interpreter that has it."""
    if name not in pythons:
        return load_target(name)
    command = program_command(name, pythons[name]) or python_command(pythons[name], name)
    return program_target(name, command)


def recorded(records: Iterable[Mapping[str, Any]], results: Results) -> Iterator[Effect]:
    """Rebuild effects from their records and the results that they were measured for.

    Raises:
        KeyError: the results have no such verdict.
    """
    verdicts = {verdict.about: verdict for verdict in results.verdicts}
    for record in records:
        by_size = {float(size): float(share) for size, share in record["by_size"].items()}
        verdict = verdicts[tuple(record[part] for part in ABOUT)]
        yield Effect(results.header.target, verdict, by_size, float(record["worst"]))


def measured(folder: Path, pythons: Mapping[str, str]) -> list[Effect]:
    """Read the effects behind the results of a folder; where none are stored, measure and store them."""
    results, file = read(file_of(folder)), folder / FILE
    if file.is_file():
        return list(recorded(json.loads(file.read_text(encoding="utf-8")), results))
    entries = list(effects(loaded(results.header.target, pythons), results))
    write(file, json.dumps([entry.record() for entry in entries], indent=1, allow_nan=False) + "\n")
    return entries


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the effects behind results, measured with the frameworks installed; write the page and its picture."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.commands.effects", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="folder with results.jsonl")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument(
        "--python", action="append", default=[], metavar="FRAMEWORK=PYTHON", help="where a framework is installed apart"
    )
    options = parser.parse_args(arguments)
    for each in options.python:
        if "=" not in each:
            parser.error(f"--python {each}: must be FRAMEWORK=PYTHON")
    pythons = dict(each.split("=", 1) for each in options.python)
    entries = [entry for folder in options.folders for entry in measured(folder, pythons)]
    drawn = options.out.with_suffix(".svg")
    write(options.out, page(entries, f"![The same over the size of gradients, float64]({drawn.name})\n\n"))
    write(drawn, picture(entries))


if __name__ == "__main__":
    main()
