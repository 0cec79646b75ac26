"""The committed page lists what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from optimetry.conformance.selftest import confusion, known_targets, pages, sensitivity
from optimetry.conformance.selftest.equivalents import STYLES, rules_of
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.naive_test import passes_naive_test
from optimetry.conformance.selftest.sensitivity import PAGE
from optimetry.reference.rules import RULES

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


def test_both_pages_are_of_one_run_in_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of two faults, of which one ends its process, one member of a family, and one rule in all styles."""
    faults = {name: FAULTS[name] for name in ("exits", "sign_of_zero")}
    for module in (known_targets, sensitivity, confusion):
        monkeypatch.setattr(module, "FAULTS", faults)
    for module in (known_targets, sensitivity):
        monkeypatch.setattr(module, "RULES", {"sgd": RULES["sgd"]})
    styles = {name: style for name, style in STYLES.items() if "sgd" in rules_of(style)}
    monkeypatch.setattr(sensitivity, "STYLES", styles)
    monkeypatch.setattr(known_targets, "FAMILIES", ("torch.adagrad",))
    pages.main(["--out", str(tmp_path)])
    written, listed = ((tmp_path / name).read_text(encoding="utf-8") for name in ("sensitivity.md", "confusion.md"))
    assert "It rejects\n2 of the 2 faults" in written
    for name in faults:
        (row,) = (line for line in written.splitlines() if line.startswith(f"| {name} | "))
        assert row in TEXT.splitlines()
    assert "Of 2 targets that compute something known, 2 are named exactly (100.0 %)." in listed
    assert f"| equivalent | {2 * len(styles)} | 0 | 0 | 0 | 0 | {2 * len(styles)} |" in listed
