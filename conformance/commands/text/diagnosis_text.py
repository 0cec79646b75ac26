"""Writes diagnoses for a terminal: what a target computes, beside what the document says."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from tabulate import tabulate

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.files.ledger import outcome_of
from optimetry.conformance.commands.text.found_text import found_text
from optimetry.conformance.commands.text.terminal import counted, digits_of, rows_of, wrapped
from optimetry.conformance.judging.counterexamples.divergence import PARAMETER, Divergence
from optimetry.conformance.judging.counterexamples.worked import Quantity, Worked
from optimetry.conformance.judging.diagnose import Diagnosis
from optimetry.conformance.naming.known.points import PointClass, by_axes, family_axes
from optimetry.conformance.numerics.agreement import SLACK, Agreement
from optimetry.reports.arithmetic import described
from optimetry.reports.numbers import number, share_text
from optimetry.reports.parts import complete
from optimetry.reports.results import Verdict

SHOWN = 4
"""How many of the nearest rules are listed."""

LONGEST = 8
"""The largest counterexample, in elements of all steps, whose numbers are printed."""


def report(headline: str, diagnoses: Iterable[Diagnosis], seed: int, width: int = 100) -> str:
    """Write one section for each finding; engines and dtypes with the same finding share a section."""
    sections: dict[tuple[Any, ...], list[Diagnosis]] = {}
    for each in diagnoses:
        verdict = each.verdict
        reason = verdict.reason if verdict.verdict in ("unsupported", "error") else ""
        sections.setdefault((verdict.verdict, str(verdict.computes), reason), []).append(each)
    texts = [headline, *("\n".join(_section(group, seed, width)) for group in sections.values())]
    return "\n\n".join(texts)


def _section(group: list[Diagnosis], seed: int, width: int) -> Iterator[str]:
    yield from textwrap.wrap(f"{_where(group)}: {_finding(group[0])}", width)
    if group[0].verdict.untried:
        yield from wrapped(f"not tried: {', '.join(group[0].verdict.untried)}", width)
    first = max(group, key=lambda each: each.verdict.share or 0.0)
    verdict = first.verdict
    if verdict.verdict in ("unsupported", "error"):
        yield from wrapped(verdict.reason, width)
        return
    yield from _explained(group, seed, width) if first.explanation else _unexplained(first, width)
    if first.worked:
        yield from ("", *worked_text(first.worked, width))
    yield from _ranking(first)
    if verdict.verdict != "conforms" and not first.found:  # which has lines of its own
        yield from ("", "  for the file of `optimetry check --expect`:")
        yield from (f"    {verdict.optimizer} {dtype} {outcome_of(verdict)} WHY" for dtype in _dtypes(group))


def _where(group: list[Diagnosis]) -> str:
    """Write the dtypes, and the engines where there are several."""
    engines = {dtype: [v.engine for v in _of_dtype(group, dtype)] for dtype in _dtypes(group)}
    if all(names == ["default"] for names in engines.values()):
        return " and ".join(engines)
    texts = {dtype: f"engine{'s' * (len(names) > 1)} {', '.join(names)}" for dtype, names in engines.items()}
    if len(set(texts.values())) == 1:
        return f"{' and '.join(engines)}, {next(iter(texts.values()))}"
    return " and ".join(f"{dtype} ({text})" for dtype, text in texts.items())


def _finding(diagnosis: Diagnosis) -> str:
    verdict, explanation = diagnosis.verdict, diagnosis.explanation
    law = f", but breaks a law, {verdict.law}" if verdict.law else ""
    if verdict.computes.parts:
        return f"{verdict.verdict.upper()}, {verdict.computes}{law}"
    if law and verdict.share is not None and verdict.share <= SLACK:
        return f"DIVERGES, the documented rule{law}"
    if explanation is None:
        if diagnosis.found:
            return "ANOTHER RULE, which is declared nowhere: found by search"
        return {"diverges": "DIVERGES, nothing known explains it", "error": "ERROR", "unsupported": "not offered"}[
            verdict.verdict
        ]
    ways = "; ".join(map(described, explanation.arithmetic.record()))
    how = f": {ways}" if ways else ""
    if not explanation.rule.documented:
        others = [name for name in verdict.computes.same_as if name != explanation.rule.name]
        same = f", which is {' and '.join(others)}" if others else ""
        return f"ANOTHER RULE, {explanation.rule.name}{same}{how}"
    if verdict.verdict == "imprecise":
        return f"IMPRECISE, the documented rule{how}"
    return f"CONFORMS, what differs is rounding{how}"


def _explained(group: list[Diagnosis], seed: int, width: int) -> Iterator[str]:
    """Write the section of a finding that has a name."""
    explanation, verdict = group[0].explanation, group[0].verdict
    assert explanation is not None
    rule = explanation.rule
    if not rule.documented:
        yield from wrapped(f"computed by: {rule.origin}", width)
        if rule.reference:
            yield from wrapped(f"reference: {rule.reference}", width)
        if rule.dialect or rule.step_count:
            yield from wrapped(f"formula: {rule.difference}", width)
        yield ""
        if rule.point:
            yield from _axes(rule, width)
            yield ""
    probes = len(group[0].probed.runs) if group[0].probed else 0
    yield from wrapped(
        f"holds on {counted(verdict.cases, 'drawn case')} (seed {seed}) and {counted(probes, 'probe')}", width
    )
    of_what = " of what rounding explains" if verdict.verdict == "conforms" else " times what rounding explains"
    worst = {dtype: max(_of_dtype(group, dtype), key=lambda v: v.share or 0.0) for dtype in _dtypes(group)}
    shares = [f"{share_text(v.share, of_what)} in {dtype} ({number(v.ulp)} ULP)" for dtype, v in worst.items()]
    yield from wrapped(f"away from the document, at most: {', '.join(shares)}", width)


def _dtypes(group: list[Diagnosis]) -> list[str]:
    return list(dict.fromkeys(each.verdict.dtype for each in group))


def _of_dtype(group: list[Diagnosis], dtype: str) -> list[Verdict]:
    return [each.verdict for each in group if each.verdict.dtype == dtype]


def _axes(rule: PointClass, width: int) -> Iterator[str]:
    """Write every axis of the family: the documented formula beside the one found."""
    axes = family_axes(rule.optimizer)
    rows = []
    for name, axis in axes.items():
        value = rule.point.get(name, axis.documented)
        differs = value != axis.documented
        formula = axis.values[value] if differs else "same"
        rows.append((">" if differs else "", name, axis.values[axis.documented], formula))
    room = max((width - 10 - max(len(name) for name in axes)) // 2, 20)
    yield tabulate(rows, ("", "where", "documented", "found"), "simple", maxcolwidths=[None, None, room, room])
    others = [by_axes(point) for point in rule.points[1:]]
    if others:
        shown = "; ".join(others[:3]) + (f"; and {len(others) - 3} more" if len(others) > 3 else "")
        yield from wrapped(f"algebraically the same: {shown}", width)


def _unexplained(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    """Write the section of a finding that has no name: the first divergence, and the smallest counterexample."""
    if not diagnosis.found:
        yield from wrapped(diagnosis.verdict.reason, width)
    yield ""
    if diagnosis.found:
        yield from found_text(diagnosis, width)
        yield ""
    nearest, divergence = diagnosis.nearest, diagnosis.divergence
    if nearest is not None and not diagnosis.named:
        near = diagnosis.ranking[0][1]
        how = "no different" if near.share <= SLACK else share_text(near.share, " bounds away")
        yield from wrapped(f"nearest rule: {nearest.name}, {how} in the probes", width)
    if divergence is not None:
        yield from wrapped(_parting(divergence), width)
    counterexample = diagnosis.verdict.counterexample or {}
    if "given" in counterexample:
        yield ""
        rule = None if diagnosis.named else counterexample.get("nearest")
        yield from _counterexample(Case.from_json(counterexample["case"]), counterexample, rule, width)


def _parting(divergence: Divergence) -> str:
    slots = ", ".join(divergence.compared)
    if not slots:
        slot = "the parameter"
    elif divergence.slot == PARAMETER:
        slot = f"the parameter, while {slots} agree{'s' if len(divergence.compared) == 1 else ''}"
    else:
        slot = f"slot {divergence.slot}"
    returned, expected = (digits_of(x, divergence.case) for x in (divergence.given, divergence.expected))
    return (
        f"first divergence at step {divergence.step} in {slot}: {returned}, expected {expected} within "
        f"{divergence.allowed:.2g} (tensor {divergence.tensor}, element {divergence.element})"
    )


def _counterexample(
    case: Case, counterexample: dict[str, Any], nearest: dict[str, Any] | None, width: int
) -> Iterator[str]:
    size = ", ".join(map(counted, (len(case.grads), len(case.parameters), case.size), ("step", "tensor", "element")))
    yield f"  smallest counterexample found: {size}"
    if case.elements <= LONGEST:
        rows = [
            *rows_of(case),
            (f"returned, step {counterexample['step']}", digits_of(counterexample["given"], case)),
            ("documented", digits_of(counterexample["documented"], case)),
            ("rounding explains", f"{SLACK * counterexample['bound']:.3g}"),
            *_nearest(nearest, case),
        ]
        yield textwrap.indent(tabulate(rows, tablefmt="plain", disable_numparse=True), "    ")
    yield from wrapped("`optimetry check --out DIR` writes it as a script that needs NumPy alone", width)


def _nearest(rule: dict[str, Any] | None, case: Case) -> Iterator[tuple[str, str]]:
    """Yield a row on the nearest rule, unless it is the documented one."""
    if rule is not None and rule["rule"] != "documented":
        where = f"step {rule['step']}, element {rule['element']}"
        far = share_text(rule["share"], " bounds away")
        yield (
            f"nearest, {rule['rule']}",
            f"{digits_of(rule['expected'], case)} at {where}: {far} ({number(rule['ulp'])} ULP)",
        )


def _ranking(diagnosis: Diagnosis) -> Iterator[str]:
    """Write the nearest rules of the family, with the documented one, unless parts say what is computed."""
    explained = diagnosis.explanation.rule if diagnosis.explanation else None
    if (
        not diagnosis.ranking
        or (len(diagnosis.ranking) == 1 and explained)
        or complete(diagnosis.verdict.computes.parts)
    ):
        return
    shown = list(diagnosis.ranking[:SHOWN])
    shown += [pair for pair in diagnosis.ranking[SHOWN:] if pair[0].documented or pair[0] == explained]
    rows = [(">" * (rule == explained), rule.name, _share(agreement)) for rule, agreement in shown]
    headers = ("", f"rules of the {diagnosis.verdict.optimizer} family", "share")
    yield ""
    yield tabulate(rows, headers, "simple", disable_numparse=True)
    probes, left = len(diagnosis.probed.runs) if diagnosis.probed else 0, len(diagnosis.ranking) - len(shown)
    yield (
        f"  share: the error ratio in {counted(probes, 'probe')}; at most {SLACK:g} is explained"
        + (f"; {counted(left, 'rule')} further away" if left else "")
    )


def _share(agreement: Agreement) -> str:
    return share_text(agreement.share) if agreement.elements > agreement.vacuous else "nothing to compare"


def worked_text(worked: Worked, width: int) -> Iterator[str]:
    """Write the first divergence from the document, with the numbers of that element."""
    divergence = worked.divergence
    where = "the parameter" if divergence.slot == PARAMETER else f"slot {divergence.slot}"
    size = f"step {divergence.step}, tensor {divergence.tensor}, element {divergence.element}"
    hyper = ", ".join(f"{name} = {value:g}" for name, value in divergence.case.hyper.items())
    headline = f"first divergence at {size}, in {where}; worked through{f' with {hyper}' if hyper else ''}:"
    yield from wrapped(headline, width)
    rows = (*worked.given, *_in_order(worked))
    cells = [[row.what, *(_number(value, divergence.case) for value in _values(row, worked))] for row in rows]
    returned = f"{'param' if divergence.slot == PARAMETER else divergence.slot}, returned"
    cells.append([returned, *[""] * bool(worked.other), _number(divergence.given, divergence.case)])
    headers = ["", "documented", *[textwrap.fill(worked.other, 24)] * bool(worked.other)]
    table = tabulate(cells, headers, "simple", disable_numparse=True, maxcolwidths=[max(width - 50, 30), None, None])
    yield textwrap.indent(table, "  ")


def _in_order(worked: Worked) -> Iterator[Quantity]:
    """Yield the rows behind the inputs: a new slot before the first expression that it enters, the rest at the end."""
    waiting = list(worked.after)
    for row in worked.between:
        entering = [new for new in waiting if re.search(rf"\b{re.escape(new.what)}\b", row.what)]
        waiting = [new for new in waiting if new not in entering]
        yield from (*entering, row)
    yield from waiting


def _values(row: Quantity, worked: Worked) -> list[float | None]:
    """Return a row's number in the documented formula, and in the other where there is one."""
    return [row.documented, *[row.other] * bool(worked.other)]


def _number(value: float | None, case: Case) -> str:
    """Write a number; nothing where there is none."""
    return "" if value is None else digits_of(value, case)
