"""The published errors are of the pinned frameworks, of what their page names, and consistent with themselves."""

from __future__ import annotations

import re
from pathlib import Path

from optimetry.conformance.targets.table import FRAMEWORKS, TOGETHER
from optimetry.reports import accuracy_tables
from optimetry.reports.results import Results, read
from optimetry.reports.site import plots
from optimetry.reports.site.contents import Contents

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports" / "published" / "accuracy"
AGAIN = "see docs/published/accuracy.md"


def published() -> list[Results]:
    return [read(file) for file in sorted(FOLDER.glob("*/results.jsonl"))]


def test_frameworks_are_pinned_and_measured_alike_on_what_the_page_names() -> None:
    page = (ROOT / "docs" / "published" / "accuracy.md").read_text("utf-8")
    named = set(re.findall(r"--optimizer (\w+)", page))
    assert {each.header.target for each in published()} == {"accelerated", *TOGETHER}
    for each in published():
        if each.header.target in FRAMEWORKS:
            assert each.header.target_version == FRAMEWORKS[each.header.target].version, AGAIN
        assert {(one.optimizer, one.dtype) for one in each.accuracy} <= {(name, "float32") for name in named}
        assert {one.gradients for one in each.accuracy} == set(plots.GRADIENTS)
        assert all([point.step for point in one.points][-1] == 10_000 for one in each.accuracy)


def test_tables_and_picture_are_of_the_results() -> None:
    found = published()
    assert (FOLDER / "accuracy.md").read_text("utf-8") == accuracy_tables.markdown(found), AGAIN
    assert (FOLDER / "accuracy.csv").read_text("utf-8") == accuracy_tables.csv_text(found), AGAIN
    curves = {rule.name: rule.curves("float32") for rule in Contents.of(found).rules}
    drawn, text = plots.drifts(curves), (FOLDER / "accuracy-float32.svg").read_text("utf-8")
    legend = [re.findall(r"<text [^>]*>([^<]*)</text>", each) for each in (drawn, text)]
    assert legend[0] == legend[1], AGAIN
