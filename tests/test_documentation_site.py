"""What the documentation site generates is complete; that it builds without a warning is for `nox -s docs`."""

import argparse
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs.building import commands, pictures, rules
from optimetry.conformance.commands.cli import parser
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets import protocol
from optimetry.reports.site.mathml import mathml
from optimetry.reports.site.plots import THEME

DOCS = Path(__file__).parents[1] / "docs"


def test_every_book_has_a_page_and_every_rule_a_section():
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    used = re.findall(r"^```{rules} (\w+)$", text, re.MULTILINE)
    assert sorted(used) == sorted(rules.pages())
    sections = [name for page in rules.pages() for name in re.findall(r"^## (\S+)$", rules.page_of(page), re.MULTILINE)]
    assert sorted(sections) == sorted(SUBJECTS)


def test_every_part_of_the_protocol_of_a_target_is_described():
    """What a method of one returns is another, such as the run over groups that `start_groups` begins."""
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    parts = [name for name, value in vars(protocol).items() if getattr(value, "_is_protocol", False)]
    assert {"Target", "GroupedRun"} <= set(parts)
    shown = re.findall(rf"^\.\. autoclass:: {re.escape(protocol.__name__)}\.(\w+)$", text, re.MULTILINE)
    assert sorted(shown) == sorted(name for name in parts if name != "Protocol")


def test_every_formula_is_rendered():
    text = "\n".join(rules.page_of(page) for page in rules.pages())
    blocks = re.findall(r"^\$\$\n(.*?)\n\$\$$", text, re.MULTILINE | re.DOTALL)
    formulas = [*blocks, *re.findall(r"(?<![\\$])\$([^$\n]+)\$", text)]
    assert len(formulas) > len(SUBJECTS)
    assert [formula for formula in formulas if mathml(formula) is None] == []


def test_a_section_says_what_the_declaration_says():
    text = rules.page_of("fluid").split("\n## adam\n")[1].split("\n## ")[0]
    assert r"m \leftarrow \beta_1 m + (1 - \beta_1) g" in text
    assert "| `epsilon` | 1e-08 | in \\[0, inf) | added to the root of the second moment |" in text
    assert "moment1 = beta1 * state.moment1 + (1 - beta1) * grad" in text
    assert all(f"| `{dialect.name}` |" in text for dialect in DIALECTS["adam"])


def test_every_command_has_a_section():
    text = commands.page()
    subparsers = next(x for x in parser()._actions if isinstance(x, argparse._SubParsersAction))
    assert len(subparsers.choices) > 5
    assert all(f"\n## optimetry {name}\n" in text for name in subparsers.choices)
    assert "--expect LEDGER" in text


def test_pictures_show_what_the_text_says():
    bounds = dict(pictures.operations())
    assert bounds["moment1"] < bounds["step"]
    steps = pictures.steps()
    bound, ours, dialect = steps.values()
    assert (ours <= bound).all()
    assert (dialect > 100 * bound).all()


def test_error_ratios_of_dialects_are_far_from_the_slack(monkeypatch):
    monkeypatch.setattr(pictures, "CASES", 8)
    ours, *dialects = pictures.ratios().values()
    assert ours <= SLACK
    assert len(dialects) == len(DIALECTS["adam"])
    assert min(dialects) > 1000 * SLACK


@pytest.mark.parametrize("name", ["operations", "steps"])
def test_pictures_are_for_a_page_and_both_themes(name):
    text = pictures.svg(name)
    root = ET.fromstring(text)
    assert root.tag.endswith("svg")
    assert text == pictures.svg(name)
    assert not any(colour in text for colour in THEME)
    assert set(re.findall(r'\bid="(\w+)-', text)) == {name}
    assert all(colour in pictures.colours() for row in THEME.values() for colour in row)
