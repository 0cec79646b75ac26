"""The list of all published verdicts that diverge: each belongs to one row of docs/findings.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = "# Every row that diverges\n"
KINDS = {"one edit, other arithmetic", "two edits", "three edits", "beyond the search", "arithmetic", "over the run"}

Row = tuple[str, str, str, str]


def listed() -> list[tuple[list[set[str]], str]]:
    """The sets of frameworks, engines, dtypes and rules of each row, with its kind."""
    section = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8").split(HEADING)[1].split("\n# ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    return [([set(re.sub("`", "", cell).split()) for cell in row[:4]], row[4]) for row in cells[2:]]


def diverging() -> set[Row]:
    """Framework, engine, dtype and rule of each published verdict that diverges."""
    combinations = set()
    for file in sorted((ROOT / "reports" / "published").glob("*-*/results.jsonl")):
        rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        name = file.parent.name.rpartition("-")[0]
        combinations |= {
            (name, x["engine"], x["dtype"], x["optimizer"]) for x in rows if x.get("verdict") == "diverges"
        }
    return combinations


def belongs(row: Row, sets: list[set[str]]) -> bool:
    return all(cell in allowed or allowed == {"*"} for cell, allowed in zip(row, sets, strict=True))


def test_every_verdict_that_diverges_is_explained_in_one_row() -> None:
    rows, verdicts = [sets for sets, _ in listed()], diverging()
    assert {row: sum(belongs(row, sets) for sets in rows) for row in verdicts} == dict.fromkeys(verdicts, 1)


def test_every_explanation_is_of_a_verdict() -> None:
    verdicts = diverging()
    for sets, kind in listed():
        assert kind in KINDS
        assert any(belongs(row, sets) for row in verdicts), sets
        assert all(any(row[3] == rule and belongs(row, sets) for row in verdicts) for rule in sets[3] - {"*"}), sets
