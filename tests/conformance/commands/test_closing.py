"""What a check says last: the command that explains the first verdict that is not good."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from optimetry.conformance.cases.effort import EFFORTS, EXHAUSTIVE
from optimetry.conformance.commands.arguments import DEFAULT_DTYPES
from optimetry.conformance.commands.checking import _may_be_a_formula, repeating
from optimetry.reports.results import Computes, Verdict
from tests.reports.written import GOOD

UNNAMED = dataclasses.replace(GOOD, verdict="diverges", share=9.0)


@pytest.mark.parametrize(
    ("verdict", "searched"),
    [
        (UNNAMED, True),
        (dataclasses.replace(UNNAMED, law="sign_symmetry"), True),
        (dataclasses.replace(UNNAMED, law="repeatable"), False),
        (dataclasses.replace(UNNAMED, optimizer="torch.adafactor"), False),
        (dataclasses.replace(UNNAMED, computes=Computes("ascent")), False),
        (dataclasses.replace(UNNAMED, verdict="error"), False),
    ],
    ids=["nothing known", "a law of the document", "a universal law", "a rule of matrices", "a name", "an error"],
)
def test_a_longer_search_is_announced_where_there_is_one(verdict: Verdict, searched: bool) -> None:
    assert _may_be_a_formula(verdict) == searched


@pytest.mark.parametrize(
    ("effort", "cases", "options"),
    [
        (EFFORTS["quick"], 81, []),
        (EFFORTS["standard"], 80, []),
        (EFFORTS["standard"], 81, ["--effort", "standard"]),
        (EFFORTS["thorough"], 1, ["--effort", "thorough"]),
        (EXHAUSTIVE, 1, ["--effort", "thorough"]),
    ],
)
def test_a_diagnosis_is_told_the_effort_that_its_default_does_not_repeat(effort: Any, cases: int, options: Any) -> None:
    check: Any = SimpleNamespace(dtypes=list(DEFAULT_DTYPES), task=SimpleNamespace(seed=0, effort=effort))
    assert repeating(check, [GOOD, dataclasses.replace(UNNAMED, cases=cases)]) == options
    assert repeating(check, [dataclasses.replace(GOOD, cases=cases)]) == (options if cases == 1 else [])
