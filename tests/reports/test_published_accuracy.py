"""The published errors are of the pinned frameworks and consistent with themselves."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from optimetry.conformance.targets.table import FRAMEWORKS, TOGETHER
from optimetry.reference.books import BOOKS
from optimetry.reports import accuracy_tables
from optimetry.reports.results import Results, read
from optimetry.reports.site import plots
from optimetry.reports.site.contents import Contents

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports" / "published" / "accuracy"
PAGES = ROOT / "docs" / "published"
AGAIN = "see docs/published/accuracy.md"


@cache
def published() -> dict[Path, Results]:
    return {file.parent: read(file) for file in sorted(FOLDER.glob("*/results.jsonl"))}


@pytest.mark.slow
def test_frameworks_are_pinned_and_measured_alike() -> None:
    assert {each.header.target for each in published().values()} == {"accelerated", *TOGETHER}
    for folder, each in published().items():
        assert folder.name == f"{each.header.target}-{each.header.target_version}"
        if each.header.target in FRAMEWORKS:
            assert each.header.target_version == FRAMEWORKS[each.header.target].version, AGAIN
        assert {accuracy.gradients for accuracy in each.accuracy} == set(plots.GRADIENTS)
        assert {accuracy.book for accuracy in each.accuracy} <= set(BOOKS)
        assert all([point.step for point in accuracy.points][-1] == 10_000 for accuracy in each.accuracy)


def test_tables_are_of_the_results_and_have_pages() -> None:
    assert (FOLDER / "accuracy.md").read_text("utf-8") == accuracy_tables.markdown(published().values()), AGAIN
    index = (PAGES / "accuracy.md").read_text("utf-8")
    for folder, each in published().items():
        assert (folder / "accuracy.md").read_text("utf-8") == accuracy_tables.markdown([each]), AGAIN
        page = PAGES / f"accuracy-{each.header.target}.md"
        assert f"accuracy/{folder.name}/accuracy.md" in page.read_text("utf-8")
        assert f"\n{page.stem}\n" in index


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.svg")), ids=lambda file: file.stem)
def test_pictures_are_of_the_results(file: Path) -> None:
    _, book, dtype = file.stem.split("-")
    measured = Contents.of(list(published().values())).rules
    rules = [rule for rule in measured if rule.book == book and dtype in rule.pictures]
    drawn = plots.drifts({rule.name: rule.curves(dtype) for rule in rules})
    legend = [re.findall(r"<text [^>]*>([^<]*)</text>", each) for each in (drawn, file.read_text("utf-8"))]
    assert legend[0] == legend[1], AGAIN
