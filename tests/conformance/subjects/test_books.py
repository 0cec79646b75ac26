"""Books: rules of another document than fluid's are addressed, listed and judged as its own are."""

from __future__ import annotations

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.examine import examined, judge
from optimetry.conformance.plugin.checks import Judging
from optimetry.conformance.subjects.registry import chosen_in, subject_named
from optimetry.conformance.targets.loading import load_target
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import UsageError
from optimetry.reference.rule import rule_named
from optimetry.reports.results import Verdict

EFFORT = Effort("books", cases=20, law_cases=1)

DEPARTS = {"torch.adafactor", "torch.muon", "torch.rprop", "torch.sparse_adam"}
"""What departs from its own docstring in torch 2.13.

Rprop limits every step size, not only one that is changed, which is a dialect. Of Adafactor's eps1 the square is used,
which underflows. Muon's buffer is an average, and its eps the smallest divisor, which shows where the norm is near eps.
SparseAdam adds eps to the root before its correction.
"""


def of_torch(optimizer: str, dtype: str = "float32") -> Verdict:
    pytest.importorskip("torch")
    (verdict,) = judge(engines_of(load_target("torch"))[:1], optimizer, dtype, effort=EFFORT, seed=0)
    return verdict


@pytest.mark.parametrize("name", BOOKS["torch"])
def test_torch_computes_its_own_docstring(name: str) -> None:
    pytest.importorskip("torch")
    (examination,) = examined(engines_of(load_target("torch"))[:1], name, "float32", effort=EFFORT, seed=0)
    assert (examination.rejected is not None) == (name in DEPARTS)
    assert name in DEPARTS or examination.verdict().verdict == "conforms"


def test_adam_of_torch_is_another_rule_than_that_of_fluid() -> None:
    assert of_torch("adam").dialect == "scaled_epsilon"
    own = of_torch("torch.adam")
    assert (own.verdict, own.book) == ("conforms", "torch")


def test_a_rule_is_found_in_its_book_and_by_its_full_name_everywhere() -> None:
    assert chosen_in("torch", ["adamw", "sgd"]) == ["torch.adamw", "torch.sgd"]
    assert chosen_in("fluid", ["sgd", "torch.adamw", "l1_decay"]) == ["sgd", "torch.adamw", "l1_decay"]
    assert chosen_in("torch", None) == list(BOOKS["torch"])
    assert chosen_in("fluid", ()) == list(BOOKS["fluid"])
    assert chosen_in("all", None) == [name for rules in BOOKS.values() for name in rules]
    assert rule_named("torch.adamw") is BOOKS["torch"]["torch.adamw"]


@pytest.mark.parametrize("book", ["papers", "torch"])
def test_no_rule_of_fluid_is_judged_as_one_of_another_book(book: str) -> None:
    with pytest.raises(UsageError, match=r"unknown optimizer 'decayed_adagrad', must be one of"):
        chosen_in(book, ["decayed_adagrad"])
    assert chosen_in(book, ["clip_by_norm"]) == ["clip_by_norm"]
    assert chosen_in("all", ["decayed_adagrad"]) == ["decayed_adagrad"]


def test_what_is_in_no_book_is_refused_with_the_name_that_was_meant() -> None:
    with pytest.raises(UsageError, match=r"unknown optimizer 'papers.rprop'.*; did you mean torch\.rprop\?"):
        chosen_in("fluid", ["papers.rprop"])
    with pytest.raises(UsageError, match=r"unknown optimizer 'adamw'.*; did you mean papers\.adamw or torch\.adamw\?"):
        chosen_in("fluid", ["adamw"])
    with pytest.raises(
        UsageError, match=r"unknown book 'pytorch', must be one of: fluid, papers, torch, all; did you mean torch\?"
    ):
        chosen_in("pytorch", None)


def test_every_rule_of_a_book_is_a_subject_with_its_name() -> None:
    for book, rules in BOOKS.items():
        for name, rule in rules.items():
            assert subject_named(name).declaration is rule
            assert subject_named(name).book == book


def test_the_command_judges_by_a_book(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--book", "torch", "--optimizer", "sgd", "--dtype", "float32", "--effort", "quick", "-n", "1"]
    assert main(["check", "numpy", *asked]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("torch.sgd")]
    assert "conforms" in row


def test_the_command_refuses_an_unknown_book(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy", "--book", "keras"]) == 2
    assert "unknown book 'keras', must be one of: fluid, papers, torch, all" in capsys.readouterr().err


def test_the_checks_of_pytest_are_those_of_the_book() -> None:
    judging = Judging.of("numpy", ["adamw"], ["float32"], "quick", 0, book="torch")
    assert [str(check) for check in judging.checks] == ["torch.adamw-float32-default"]
