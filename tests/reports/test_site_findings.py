"""Findings on the site: a page for each section of a page in Markdown."""

from optimetry.reports.filenames import FileNames
from optimetry.reports.results import Results
from optimetry.reports.site.build import build
from optimetry.reports.site.findings import findings
from tests.reports.test_site import Page
from tests.reports.written import BAD, GOOD, HEADER

PAGE = """# Findings

What stands before the first section is about the page.

## Epsilon is scaled: `adam` in torch

See [the script](../reports/adam.py) and [upstream](https://example.org/1). <script>alert(1)</script>
`sgd` is not meant. [no](javascript:alert(1))

| framework | rule   |
|:----------|:-------|
| torch     | `ftrl` |

## Epsilon is scaled: `adam` in torch

Again.
"""


def test_a_section_is_a_finding_about_rules():
    first, second = findings(PAGE, ["adam", "ftrl", "sgd"], FileNames())
    assert first.name == "Epsilon is scaled: adam in torch"
    assert (first.rules, second.rules) == (["adam", "ftrl"], ["adam"])
    assert first.file == "finding/Epsilon-is-scaled-adam-in-torch.html"
    assert second.file == "finding/Epsilon-is-scaled-adam-in-torch-2.html"


def test_the_name_of_a_page_ends_behind_a_word():
    files = FileNames()
    assert files.named("finding", "torch in C++") == "finding/torch-in-Cpp.html"
    assert files.named("finding", "word " * 30) == f"finding/{'-'.join(['word'] * 16)}.html"
    assert files.named("finding", "w" * 99) == f"finding/{'w' * 80}.html"


def test_what_it_says_is_safe_and_leads_nowhere_that_is_not_there():
    first, _ = findings(PAGE, [], FileNames())
    assert "&lt;script&gt;" in first.body
    assert "<script" not in first.body
    assert 'href="javascript' not in first.body
    assert "See the script and" in first.body
    assert '<a href="https://example.org/1">upstream</a>' in first.body
    assert "<td>" in first.body.replace('<td style="text-align:left">', "<td>")


def test_pages_of_findings_and_rules_lead_to_each_other(tmp_path):
    build([Results(HEADER, [GOOD, BAD])], tmp_path, PAGE)
    finding = tmp_path / "finding/Epsilon-is-scaled-adam-in-torch.html"
    assert "../rule/adam.html" in Page(finding).links
    assert "../finding/Epsilon-is-scaled-adam-in-torch.html" in Page(tmp_path / "rule/adam.html").links
    assert "Findings</h2>" not in (tmp_path / "rule/sgd.html").read_text()
    assert "findings.html" in Page(tmp_path / "index.html").links
    assert not Page(finding).open
