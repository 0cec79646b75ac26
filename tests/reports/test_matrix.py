import dataclasses

import pytest

from optimetry.reports.matrix import matrix, page
from optimetry.reports.results import Computes, Header, Results, Verdict

HEADER = Header(
    optimetry="0.1.0",
    target="torch",
    target_version="2.13.0",
    platform="Linux x86_64",
    dtypes=["float32", "float64"],
    optimizers=["sgd"],
    seed=0,
    effort="quick",
)
GOOD = Verdict(optimizer="sgd", dtype="float32", verdict="conforms", share=0.5, ulp=3, cases=80)
NAMED = dataclasses.replace(GOOD, verdict="dialect", dialect="ascent", share=1e9, ulp=10**9)
ABSENT = Verdict(optimizer="sgd", dtype="float32", verdict="unsupported", reason="no class")


def double(verdict):
    return dataclasses.replace(verdict, dtype="float64")


def cell(*verdicts):
    """The one cell of a matrix of one rule and one framework."""
    return matrix([Results(HEADER, list(verdicts))]).splitlines()[-1].split("|")[2].strip()


def test_a_cell_has_the_worst_figures_of_those_that_agree():
    worse = dataclasses.replace(double(GOOD), share=0.75, ulp=2)
    assert cell(GOOD, worse) == "conforms (0.750; 3 ULP)"


def test_figures_that_are_not_all_known_are_left_out():
    assert cell(dataclasses.replace(GOOD, ulp=None)) == "conforms"
    assert cell(dataclasses.replace(GOOD, share=None)) == "conforms"


def test_dtypes_that_differ_stand_apart():
    assert cell(GOOD, double(NAMED)) == "float32: conforms (0.500; 3 ULP)<br>float64: `ascent` (1.0e+09; 1.0e+09 ULP)"
    assert cell(GOOD, double(ABSENT)) == "float32: conforms (0.500; 3 ULP)<br>float64: unsupported"


def test_engines_that_differ_stand_apart():
    fused = dataclasses.replace(NAMED, engine="fused")
    assert cell(GOOD, fused).startswith("default: conforms")
    assert "fused: `ascent`" in cell(GOOD, fused)


def test_what_the_other_combinations_compute_is_told():
    fused = dataclasses.replace(GOOD, engine="fused")
    odd = dataclasses.replace(double(NAMED), engine="fused")
    text = cell(GOOD, double(GOOD), fused, odd)
    assert text == "float64 fused: `ascent` (1.0e+09; 1.0e+09 ULP)<br>otherwise: conforms (0.500; 3 ULP)"


def test_an_engine_that_lacks_the_rule_says_nothing_where_another_has_it():
    assert cell(GOOD, dataclasses.replace(ABSENT, engine="fused")) == "conforms (0.500; 3 ULP)"


def test_what_nobody_offers_is_a_dash():
    assert cell(ABSENT, double(ABSENT)) == "\N{EN DASH}"


def test_what_cannot_be_named_is_set_in_bold():
    assert cell(dataclasses.replace(GOOD, verdict="diverges")).startswith("**diverges**")


def test_a_formula_that_was_found_is_shown():
    computes = Computes(None, "grad -> -grad", True)
    verdict = dataclasses.replace(GOOD, verdict="dialect", dialect="found", computes=computes)
    assert cell(verdict) == "`grad -> -grad` (0.500; 3 ULP)"
    assert str(computes) == "found: grad -> -grad"


def test_a_bar_of_a_formula_ends_no_cell():
    computes = Computes(None, "u = |grad|", True)
    verdict = dataclasses.replace(GOOD, verdict="dialect", computes=computes)
    assert r"| `u = \|grad\|` (0.500; 3 ULP) |" in matrix([Results(HEADER, [verdict])])


def test_rules_that_one_framework_lacks_have_an_empty_cell():
    other = Results(HEADER, [dataclasses.replace(GOOD, optimizer="adam")])
    rows = matrix([Results(HEADER, [GOOD]), other]).splitlines()[2:]
    assert [[column.strip() for column in row.split("|")[1:-1]] for row in rows] == [
        ["`sgd`", "conforms (0.500; 3 ULP)", ""],
        ["`adam`", "", "conforms (0.500; 3 ULP)"],
    ]


def test_a_page_links_its_sources():
    text = page([Results(HEADER, [GOOD])], ["torch-2.13.0"])
    assert text.startswith("# What frameworks compute\n")
    assert "| conforms (0.500; 3 ULP) |" in text
    assert "- [torch 2.13.0](torch-2.13.0). Judged by optimetry 0.1.0, effort quick, seed 0, on Linux x86_64.\n" in text


def test_every_column_needs_its_folder():
    with pytest.raises(ValueError, match="shorter"):
        page([Results(HEADER, [GOOD])], [])


def test_how_a_rule_is_computed_stands_behind_what_is_computed():
    flushes = dataclasses.replace(GOOD, computes=Computes("documented", None, False, ["flushes_subnormals"]))
    assert cell(flushes) == "conforms; flushes subnormals (0.500; 3 ULP)"
    rounded = Computes("documented", None, False, [{"float32": ["beta1"]}])
    assert cell(dataclasses.replace(GOOD, verdict="imprecise", computes=rounded)).startswith(
        "imprecise; beta1 in float32 ("
    )
    assert cell(dataclasses.replace(NAMED, computes=rounded)).startswith("`ascent`; beta1 in float32 (")
    assert cell(GOOD, double(flushes)).count("<br>") == 1
