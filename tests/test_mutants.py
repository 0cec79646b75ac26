"""The mutants that once survived, and those that change nothing: each can still be made."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutation.named import mutants, table
from tests.mutation.run import Change, Mutant, Score, at_least, equivalents, finish
from tests.mutation.workspace import ROOT, forget_calls

NAMED = mutants()


@pytest.mark.parametrize("row", NAMED, ids=[row["what"][:60] for row in NAMED])
def test_a_named_mutant_can_be_made_and_its_test_exists(row: dict[str, str]) -> None:
    assert (ROOT / row["file"]).read_text(encoding="utf-8").count(row["old"]) == 1
    assert row["old"] != row["new"]
    file, name = row["test"].split("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_their_table() -> None:
    assert table() in (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("change", equivalents(), ids=lambda change: f"{change.file}: {change.new[0]}"[:80])
def test_what_an_equivalent_mutant_changes_still_stands_in_its_file(change: Change) -> None:
    lines = {line.strip() for line in (ROOT / change.file).read_text(encoding="utf-8").splitlines()}
    assert lines >= {*change.old}, "delete the entry, or write it as the line is now"


def test_mutants_that_an_interrupted_run_leaves_are_run_again() -> None:
    tried: list[str] = []

    def two_at_a_time(names: Sequence[str]) -> str | None:
        tried.extend(names[:2])
        return "interrupted" if len(names) > 2 else None

    finish("abcde", two_at_a_time, lambda: [name for name in "abcde" if name not in tried])
    assert tried == [*"abcde"]
    with pytest.raises(SystemExit, match="why"):
        finish("ab", lambda names: "why", lambda: ["a", "b"])


def test_mutants_of_which_results_are_dropped_are_run_too() -> None:
    tried: list[str] = []
    finish("a", tried.extend, lambda: [name for name in "abc" if name not in tried])
    assert tried == [*"abc"]


@pytest.mark.parametrize(
    ("survived", "run", "sampled", "too_low"),
    [
        (1, 12, True, False),
        (6, 40, True, False),
        (7, 40, True, True),
        (40, 40, True, True),
        (5, 100, False, False),
        (6, 100, False, True),
    ],
)
def test_a_sample_fails_only_where_it_proves_that_the_folder_does(
    survived: int, run: int, sampled: bool, too_low: bool
) -> None:
    """One survivor of twelve is 92 %, which 46 % of all samples of a folder with 95 % show or fall below."""
    change = Change("reports/tables.py", (), ())
    statuses = ["survived"] * survived + ["killed"] * (run - survived)
    mutants = tuple(Mutant(str(i), status, change, "") for i, status in enumerate(statuses))
    assert Score("reports", mutants, 0, (), sampled).too_low == too_low


def test_the_chance_of_a_sample_is_that_of_draws() -> None:
    assert at_least(0, 12, 0.05) == pytest.approx(1)
    assert at_least(1, 12, 0.05) == pytest.approx(1 - 0.95**12)
    assert at_least(12, 12, 0.5) == 0.5**12


def test_which_tests_call_a_function_is_recorded_in_every_run(tmp_path: Path) -> None:
    stats = tmp_path / "mutmut-stats.json"
    forget_calls(stats)
    assert not stats.exists()
    kept = {"function_hashes": {"x_new": "1"}, "stats_time": 2.0}
    calls = {"tests_by_mangled_function_name": {"x_old": ["test_a"]}, "duration_by_test": {"test_a": 0.1}}
    stats.write_text(json.dumps(kept | calls), encoding="utf-8")
    forget_calls(stats)
    assert json.loads(stats.read_text()) == kept | {"tests_by_mangled_function_name": {}, "duration_by_test": {}}
