"""The museum accounts for every bug that it knows of, and its exhibits get their verdicts."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.commands.cli import main
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.museum import exhibit, page, picture, showing
from optimetry.conformance.selftest.museum.exhibit import EXHIBITS, beyond, changes, history
from optimetry.conformance.subjects.registry import SUBJECTS

exhibit.load()

DOCS = Path(__file__).parents[3] / "docs"
ABOUT, FOUND = showing.read(DOCS / "museum.jsonl")

QUICKLY = sorted(EXHIBITS.keys() - showing.LONGER)
"""Those that take a second or two each."""


def test_every_entry_is_an_exhibit_or_beyond_or_told_under_another_name() -> None:
    again = {name for name, entry in history().items() if entry.same_as}
    assert {entry.same_as for entry in history().values() if entry.same_as} <= set(EXHIBITS)
    places = [*EXHIBITS, *beyond(), *again]
    assert sorted(places) == sorted(history())
    assert len(history()) == 116 + 22


def test_every_bug_is_told_of_somewhere_in_a_year() -> None:
    for name, entry in history().items():
        assert entry.link.startswith("https://github.com/"), name
        assert entry.tests in ("", "missed it", "none", "not stated"), name
    for item in EXHIBITS.values():
        assert item.honest or 2010 < history()[item.name].year < 2030


def test_each_change_to_the_suite_is_of_a_bug_and_has_a_planted_fault_that_is_like_it() -> None:
    assert len(changes()) >= 10
    for name, change in changes().items():
        bug, planted = EXHIBITS[name].fault, FAULTS[change.fault]
        assert (bug.outcome, bug.rejected_by) == (planted.outcome, planted.rejected_by), name
    assert len({change.fault for change in changes().values()}) == len(changes())


def test_an_exhibit_may_be_entered_once() -> None:
    with pytest.raises(ValueError, match="exhibit optax-1130 is entered twice"):
        exhibit.enter("formula", [EXHIBITS["optax-1130"].fault])


def test_what_must_be_accepted_conforms_or_is_a_dialect() -> None:
    named = {dialect.name for dialects in DIALECTS.values() for dialect in dialects} | {"adam", "torch.adamw"}
    for item in EXHIBITS.values():
        kind, _, name = item.fault.outcome.partition(": ")
        assert not item.honest or kind == "conforms" or (kind == "dialect" and name in named), item.name


@pytest.mark.parametrize("name", QUICKLY)
def test_an_exhibit_gets_its_verdict_and_the_page_tells_it(name: str) -> None:
    shown = showing.shown(name, "quick", 0.0)
    published = next(each for each in FOUND if each.name == name)
    assert replace(published, runs=shown.runs, seconds=shown.seconds) == shown, "run `nox -s museum`"
    assert shown.right or shown.named == showing.SEARCHED, shown.outcome
    assert shown.rejected != (shown.outcome == "conforms")
    assert shown.runs > 0


def test_each_law_that_an_exhibit_is_named_by_is_broken_by_it() -> None:
    by_law = [shown for shown in FOUND if shown.exhibit.fault.rejected_by]
    assert {shown.exhibit.fault.rejected_by for shown in by_law} <= set(LAWS)
    assert all(shown.named == showing.BY_ITS_LAW for shown in by_law)


def test_the_page_and_its_picture_are_made_of_the_data() -> None:
    assert [shown.name for shown in FOUND] == list(EXHIBITS)
    assert (DOCS / "museum.md").read_text(encoding="utf-8") == page.page(FOUND, ABOUT)
    drawn = picture.picture(page.bugs_of(FOUND), str(ABOUT["effort"]))
    assert (DOCS / "museum.svg").read_text(encoding="utf-8") == drawn


def test_every_bug_is_rejected_none_named_wrongly_and_every_correct_optimizer_accepted() -> None:
    assert [shown.name for shown in FOUND if shown.exhibit.honest and not shown.right] == []
    assert [shown.name for shown in FOUND if not shown.exhibit.honest and not shown.rejected] == []
    assert [shown.name for shown in FOUND if shown.wrong] == []


def test_the_page_is_what_the_command_writes_without_further_options() -> None:
    assert {shown.name: shown.search for shown in FOUND if shown.search} == showing.LONGER
    assert ABOUT == {"effort": "quick"}
    bugs = [shown for shown in FOUND if not shown.exhibit.honest]
    assert sum(shown.named != showing.NOT_NAMED for shown in bugs) >= 0.85 * len(bugs)


def test_the_data_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "museum.jsonl"
    file.write_text(showing.written(FOUND, **ABOUT), encoding="utf-8")
    assert showing.read(file) == (ABOUT, FOUND)


def test_the_command_says_what_became_of_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["museum", "--case", "tf-903", "--case", "optax-1130", "-n", "1", "--search", "off"]) in (0, 1)
    printed = capsys.readouterr().out
    assert "tf-903 (momentum): accepted: dialect: learning_rate_inside" in printed
    assert re.search(r"optax-1130 \(papers.adabelief\): rejected by oracle after \d+ runs", printed)
    assert "1 of 1 bugs rejected" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--case", "optax-1131"], "did you mean optax-1130?"),
        (["--case", "nosuch"], ", … (docs/museum.md lists them)\n"),
        (["--effort", "some"], "unknown effort 'some'"),
        (["--case", "optax-1130", "--out", "empty"], "there is no museum.jsonl yet"),
    ],
)
def test_wrong_usage_is_refused(
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["museum", *options]) == 2
    assert message in capsys.readouterr().err


def test_standard_tries_first_what_quick_tries_so_that_what_quick_rejects_is_rejected() -> None:
    quick, standard = EFFORTS["quick"], EFFORTS["standard"]
    assert quick.law_cases <= standard.law_cases
    assert set(quick.scales) <= set(standard.scales)
    for name in ("adam", "clip_by_global_norm"):
        few, more = (
            [
                case.to_json()
                for case in islice(drawn_cases(SUBJECTS[name], "float32", seed=0, count=count), quick.cases)
            ]
            for count in (quick.cases, standard.cases)
        )
        assert few == more
        assert len(few) == quick.cases
