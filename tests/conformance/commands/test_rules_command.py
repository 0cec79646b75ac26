"""The command `optimetry rules`: everything declared of a subject is shown, in the declaration's own words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.rules import listed, plain, screen
from optimetry.conformance.commands.text.documents import formula_text, source_of
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.books import BOOKS
from optimetry.reference.rule import State
from optimetry.reference.rules.adam import Adam


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_screen_holds_all_that_is_declared(name: str) -> None:
    subject, text = SUBJECTS[name], screen(SUBJECTS[name], 200)
    rows = [re.split(r" {2,}", row) for row in text.splitlines()]
    for declared in subject.hyperparameters():
        default = "(required)" if declared.default is None else str(declared.default)
        assert [declared.name, default, declared.allowed, declared.meaning] in rows
    assert f"document: {source_of(subject)}" in text
    shown = [row[0] for row in rows]
    assert all(dialect.name in shown for dialect in DIALECTS.get(name, ()))
    for slot in subject.declaration.slots if isinstance(subject, RuleSubject) else ():
        assert slot in re.findall(r"^slots: (.*)$", text, re.MULTILINE)[0]
    assert "\\" not in text
    assert ":math:" not in text


@pytest.mark.parametrize("width", [100, 120])
@pytest.mark.parametrize("name", ["sgd", "adam", "lars_momentum", "asgd"])
def test_a_screen_is_as_wide_as_it_may_be_but_for_the_formula(name: str, width: int) -> None:
    lines = [line for line in screen(SUBJECTS[name], width).splitlines() if not line.startswith("    ")]
    assert max(map(len, lines)) <= width


def test_the_table_has_a_row_for_each() -> None:
    text = listed(SUBJECTS.values(), 120)
    assert [name for name in SUBJECTS if f"\n{name} " not in text] == []
    (row,) = [row for row in text.splitlines() if row.startswith("rmsprop ")]
    assert "momentum=0.0, centered=False" in " ".join(text.split())
    assert row.split()[-2:] == [str(len(DIALECTS["rmsprop"])), "fluid.optimizer.RMSPropOptimizer"]
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("width", range(80, 161, 5))
def test_the_table_fits_every_terminal(width: int) -> None:
    """Documents are left out where they do not fit, as on 80 columns."""
    text = listed(SUBJECTS.values(), width)
    assert max(map(len, text.splitlines())) <= width
    assert ("RMSPropOptimizer" in text) == (width >= 100)
    assert "lars_weight_decay=0.0005" in text


def test_the_formula_that_is_shown_is_the_one_that_judges() -> None:
    """The text is run, on the numbers of a step."""
    hyper = {"beta1": 0.5, "beta2": 0.25, "epsilon": 0.125}
    names = {"sqrt": np.sqrt, "square": np.square, "State": State, **hyper}
    exec(formula_text(SUBJECTS["adam"]), names)
    state, param, grad = State(moment1=np.ones(2), moment2=np.ones(2)), np.ones(2), np.array([0.5, -3.0])
    after, state_after = names["update"](param, grad, state, 0.1, 3)  # type: ignore[operator]
    must, must_state = Adam.of(hyper).update(param, grad, state, 0.1, 3)
    assert (after == must).all()
    assert (state_after.moment2 == must_state.moment2).all()


def test_methods_keep_their_self_and_hyperparameters_do_not() -> None:
    """A method and a variable may share a name."""
    text = formula_text(SUBJECTS["dgc_compress"])
    assert "taken = self.taken(u, v)" in text
    assert "self.momentum" not in text


def test_docstrings_are_written_plainly() -> None:
    assert plain(r"the rate :math:`\eta c / \lambda` for" + "\n" + r":math:`\|g\| = 0`, ``_out``") == (
        "the rate eta c / lambda for |g| = 0, _out"
    )


def test_the_command_shows_all_or_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert "optimetry rules NAME" in capsys.readouterr().out
    assert main(["rules", "clip_by_norm"]) == 0
    assert capsys.readouterr().out.startswith("clip_by_norm: g*c/|g| where the norm")


def test_a_book_has_its_own_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--book", "papers"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("papers.")]
    assert names == list(BOOKS["papers"])
    assert main(["rules", "adam", "--book", "torch"]) == 0
    assert capsys.readouterr().out.startswith("torch.adam: ")
    assert main(["rules", "--book", "keras"]) == 2
    assert "unknown book 'keras', must be one of: fluid, papers, torch, all" in capsys.readouterr().err


def test_an_unknown_name_is_one_line_with_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "adm"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("optimetry: error: unknown optimizer 'adm', must be one of: adadelta, ")
    assert err.endswith("(`optimetry rules` lists them); did you mean adam?\n")


@pytest.mark.parametrize("command", ["check", "diagnose"])
def test_the_error_for_an_unknown_name_names_the_command(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, "numpy", "--optimizer", "adm"]) == 2
    assert "(`optimetry rules` lists them)" in capsys.readouterr().err


def test_help_names_the_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "optimetry rules adam " in capsys.readouterr().out
