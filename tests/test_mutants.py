"""The mutants that once survived: each can still be made, and the page names the test that notices it."""

import re

import pytest

from tests.mutation.named import mutants, table
from tests.mutation.workspace import ROOT

NAMED = mutants()


@pytest.mark.parametrize("row", NAMED, ids=[row["what"][:60] for row in NAMED])
def test_a_named_mutant_can_be_made_and_its_test_exists(row: dict[str, str]) -> None:
    assert (ROOT / row["file"]).read_text(encoding="utf-8").count(row["old"]) == 1
    assert row["old"] != row["new"]
    file, name = row["test"].split("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_their_table() -> None:
    assert table() in (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
