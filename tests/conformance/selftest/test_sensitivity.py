"""The committed page lists what there is."""

from __future__ import annotations

import re
from pathlib import Path

from optimetry.conformance.selftest.equivalents import STYLES
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.naive_test import passes_naive_test
from optimetry.conformance.selftest.sensitivity import PAGE

TEXT = (Path(__file__).parents[3] / PAGE).read_text(encoding="utf-8")


def names(heading: str) -> list[str]:
    """The first column of the table under a heading."""
    section = TEXT[TEXT.index(f"## {heading}\n") + 3 :].partition("\n## ")[0]
    return re.findall(r"^\| ([\w.]+) \|", section, re.MULTILINE)[1:]


def test_the_page_lists_every_fault_and_every_style() -> None:
    assert names("Faults") == list(FAULTS)
    assert names("Equivalents") == list(STYLES)


def test_the_page_says_what_a_naive_test_lets_pass() -> None:
    unnoticed = [name for name, fault in FAULTS.items() if passes_naive_test(fault)]
    assert re.findall(r"^\| ([\w.]+) \|.*\| passes \|$", TEXT, re.MULTILINE) == unnoticed


def test_a_naive_test_lets_small_faults_pass_and_not_large_ones() -> None:
    for name in ("forgets_the_product", "clip_by_norm_always_scaled", "adam_scaled_epsilon"):
        assert passes_naive_test(FAULTS[name])
    for name in ("upper_end_only", "corrected_once", "absolute_gradient", "exits"):
        assert not passes_naive_test(FAULTS[name])
