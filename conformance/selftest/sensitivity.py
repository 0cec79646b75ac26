"""Writes docs/sensitivity.md, on what the suite rejects and accepts.

The page lists every fault with its verdict, and every honest equivalent with its worst error ratio, all from runs.
It also replays a naive test against the same faults, the kind that optimizers are usually tested with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from optimetry.conformance.laws import LAWS
from optimetry.conformance.selftest.equivalents import STYLES, Style, rules_of
from optimetry.conformance.selftest.faults import FAULTS, outcome, rejected_by
from optimetry.conformance.selftest.known_targets import DTYPES, KnownVerdicts
from optimetry.conformance.selftest.naive_test import passes_naive_test
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

PAGE = Path("docs") / "sensitivity.md"


def _of_fluid(style: Style) -> list[str]:
    return [rule for rule in rules_of(style) if rule in RULES]


def page(known: KnownVerdicts) -> str:
    """Write the page as Markdown: the same for the same code."""
    faults, unnoticed = known.faults, [fault.name for fault in FAULTS.values() if passes_naive_test(fault)]
    lines = (*_heading(faults, unnoticed), *_fault_table(faults, unnoticed), *_style_table(known.equivalents))
    return "\n".join(lines)


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
        "<!-- Written by `python -m optimetry.conformance.selftest.pages`; a test holds it. -->",
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
