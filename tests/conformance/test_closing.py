"""What a check says last: the command that explains the first verdict that is not good."""

from __future__ import annotations

import dataclasses

import pytest

from optimetry.conformance.commands.checking import _may_be_a_formula
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
