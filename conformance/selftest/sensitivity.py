"""Writes what the suite rejects and accepts: ``python -m optimetry.conformance.selftest.sensitivity``.

The page lists every fault with its verdict, and every honest equivalent with its worst error ratio, all from runs.
It also replays a naive test against the same faults, the kind that optimizers are usually tested with.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.laws import LAWS
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.equivalents import STYLES, Style, rules_of, styled_targets
from optimetry.conformance.selftest.faults import FAULTS, Fault, outcome, rejected_by
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, watched
from optimetry.reference.errors import TargetFault
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

PAGE = Path("docs") / "sensitivity.md"

HALF_QUICK = Effort("half of quick", EFFORTS["quick"].cases // 2, EFFORTS["quick"].law_cases)
"""What must be enough to reject a fault: the first half of the cases of ``--effort quick``."""

FOUR_CASES = Effort("few", 4, 1)
"""The ordinary cases of a fault that only large cases show: they decide nothing."""

QUARTER_QUICK = Effort("a quarter of quick, without laws", EFFORTS["quick"].cases // 4, 0)
"""The effort that measures the error ratios of equivalents; another test holds them to the laws."""

DTYPES = ("float32", "float64")
"""The dtypes in which equivalents must conform."""


def judged(fault: Fault, dtype: str, effort: Effort | None = None, search: float | None = 0.0) -> Verdict:
    """Return the verdict on a fault; by default on few cases, the large ones that show it among them."""
    effort = effort or (dataclasses.replace(FOUR_CASES, scales=fault.scales) if fault.scales else HALF_QUICK)
    target = fault.target()
    engines = engines_of(target)
    guard = Guard(fault.time_limit)
    verdicts = judge(engines, fault.optimizer, dtype, effort=effort, seed=0, guard=guard, search=search)
    return verdicts[engines.index(target)]


def equivalents(optimizer: str, dtype: str, effort: Effort) -> dict[str, Verdict]:
    """Return the verdict on every style that computes a rule in its own way, by the style's name."""
    verdicts = judge(styled_targets(optimizer), optimizer, dtype, effort=effort, seed=0)
    return {verdict.engine: verdict for verdict in verdicts}


def passes_naive_test(fault: Fault) -> bool:
    """Whether a fault passes the kind of test that most optimizers have.

    Default hyperparameters, one tensor of ten elements (nine, where it must be a matrix), ten steps with gradients from
    N(0, 1), a constant learning rate, and ``np.testing.assert_allclose`` with a relative tolerance of 1e-5 on the final
    parameters.
    """
    rng = np.random.default_rng(0)
    dtype = np.dtype(fault.dtypes[0])
    shape = fitting(subject_named(fault.optimizer), (10,))
    parameters = np.resize(rng.normal(size=10).astype(dtype), shape)
    grads = [np.resize(row, shape) for row in rng.normal(size=(10, 10)).astype(dtype)]
    right = _trained(NumpyTarget(), fault, parameters, grads)
    try:
        with watched(Guard(fault.time_limit)):
            np.testing.assert_allclose(_trained(fault.target(), fault, parameters, grads), right, rtol=1e-5)
    except (TargetFault, SystemExit):
        return False
    return True


def _trained(target: Target, fault: Fault, parameters: Array, grads: Sequence[Array]) -> Array:
    subject = subject_named(fault.optimizer)
    hyper = subject.declaration.typical().hyper()
    start: Any = target.start if isinstance(subject, RuleSubject) else target.start_wrapper  # type: ignore[attr-defined]
    run = start(fault.optimizer, hyper, [parameters.copy()])
    after = [parameters]
    for grad in grads:
        if isinstance(subject, RuleSubject):
            after = run.step([grad.copy()], 0.01)
        elif getattr(subject, "averages", False):
            run.update([grad.copy()])
            after = [array.copy() for array in run.apply()]
            run.restore()
        else:
            after = run.transform([grad.copy()])
    return np.asarray(after[0])


def _of_fluid(style: Style) -> list[str]:
    return [rule for rule in rules_of(style) if rule in RULES]


def page() -> str:
    """Write the page as Markdown: the same for the same code."""
    runs = [(fault, dtype) for fault in FAULTS.values() for dtype in fault.dtypes]
    pairs = [(optimizer, dtype) for optimizer in RULES for dtype in DTYPES]
    verdicts = {(fault.name, dtype): judged(fault, dtype) for fault, dtype in tqdm(runs, "faults", disable=None)}
    unnoticed = [fault.name for fault in FAULTS.values() if passes_naive_test(fault)]
    shares = {pair: equivalents(*pair, QUARTER_QUICK) for pair in tqdm(pairs, "equivalents", disable=None)}
    return "\n".join((*_heading(verdicts, unnoticed), *_fault_table(verdicts, unnoticed), *_style_table(shares)))


def _heading(verdicts: Mapping[tuple[str, str], Verdict], unnoticed: Sequence[str]) -> list[str]:
    rejected = {name for (name, _), verdict in verdicts.items() if rejected_by(verdict)}
    missed = sorted({name for name, _ in verdicts} - rejected)
    counts = Counter(rejected_by(verdict) for verdict in verdicts.values())
    pairs = sum(len(_of_fluid(style)) for style in STYLES.values())
    share = round(100 * len(unnoticed) / len(FAULTS))
    large = sum(bool(fault.scales) for fault in FAULTS.values())
    return [
        "# What the suite notices",
        "",
        "<!-- Written by `python -m optimetry.conformance.selftest.sensitivity`; a test holds it. -->",
        "",
        f"The suite is tried on {len(FAULTS)} faulty targets, each the reference with one defect, and on {len(STYLES)}",
        f"styles of honest engines, which make {pairs} equivalents of the documented rules. It rejects",
        f"{len(rejected)} of the {len(FAULTS)} faults with half the cases of `--effort quick`"
        + (f", and misses {', '.join(f'`{name}`' for name in missed)}." if missed else "."),
        f"For {large} of them these include large cases of `--effort standard`, which alone show them.",
        "",
        f"A test as optimizers usually have it lets {len(unnoticed)} of them pass,",
        f"{share} %: default",
        "hyperparameters, one tensor of ten elements, ten steps with gradients from N(0, 1), and",
        "`assert_allclose(rtol=1e-5)`. They are marked in the last column.",
        "",
        "| rejected first by | faults |",
        "|---|---:|",
        *(f"| {name} | {counts[name]} |" for name in (*LAWS, "oracle", "protocol")),
        "",
    ]


def _fault_table(verdicts: Mapping[tuple[str, str], Verdict], unnoticed: Sequence[str]) -> list[str]:
    rows = [
        "## Faults",
        "",
        "| fault | optimizer | defect | rejected by | outcome | naive test |",
        "|---|---|---|---|---|---|",
    ]
    for fault in FAULTS.values():
        own = [verdicts[fault.name, dtype] for dtype in fault.dtypes]
        by = ", ".join(dict.fromkeys(rejected_by(verdict) or "nothing" for verdict in own))
        outcomes = ", ".join(dict.fromkeys(outcome(verdict) for verdict in own))
        naive = "passes" if fault.name in unnoticed else ""
        defect = fault.defect.replace("|", "\\|")
        rows.append(f"| {fault.name} | {fault.optimizer} | {defect} | {by} | {outcomes} | {naive} |")
    return [*rows, ""]


def _style_table(shares: Mapping[tuple[str, str], Mapping[str, Verdict]]) -> list[str]:
    rows = [
        "## Equivalents",
        "",
        "The share is of the rounding-error bound: up to 1 in the rule's own order of operations, up to 2 where",
        "arithmetic is regrouped.",
        "",
        "| style | what it does | rules | worst share, float32 | worst share, float64 |",
        "|---|---|---:|---:|---:|",
    ]
    for style in STYLES.values():
        rules = _of_fluid(style)
        worst = [max(shares[rule, dtype][style.name].share or 0.0 for rule in rules) for dtype in DTYPES]
        rows.append(f"| {style.name} | {style.description} | {len(rules)} | {worst[0]:.2f} | {worst[1]:.2f} |")
    return [*rows, ""]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, by default where the repository keeps it."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.selftest.sensitivity", description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE, help="file to write (default: %(default)s)")
    out = parser.parse_args(arguments).out
    out.write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
