"""The code of the pages runs, and prints what they show."""

import sys
from pathlib import Path

import pytest

from tests.pages import blocks, play

DOCS = Path(__file__).parents[1] / "docs"
PLAYED = ("bound", "expected-failures", "fluid", "half-precision", "index", "tutorial")
ELSEWHERE = {
    "accuracy": "tests/conformance/commands/test_accuracy.py",
    "another-language": "tests/test_programs.py",
    "campaigns": "tests/conformance/commands/test_campaign.py",
    "certify": "tests/conformance/certify/test_certify.py",
    "ci": "tests/test_action.py",
    "protocol": "tests/test_programs.py",
    "site": "tests/reports/test_site.py",
    "vectors": "tests/conformance/judging/test_vectors.py",
    "your-own-class": "tests/conformance/targets/test_own.py",
}
"""The pages whose programs and commands other tests run."""

ILLUSTRATIONS = {"", "text"}
"""Languages of what is shown and not run; but ``text`` behind a command is compared with what that prints."""


@pytest.mark.usefixtures("few_cases")
@pytest.mark.parametrize("page", PLAYED)
def test_what_a_page_shows_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    play((DOCS / f"{page}.md").read_text(encoding="utf-8"), tmp_path)


def test_every_page_with_code_is_run():
    pages = {page.stem: blocks(page.read_text(encoding="utf-8")) for page in DOCS.glob("*.md")}
    with_code = {page for page, code in pages.items() if {language for language, _ in code} - ILLUSTRATIONS}
    assert with_code == {*PLAYED, *ELSEWHERE}
    assert all((DOCS.parent / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.parametrize(
    "wrong",
    [
        "```sh\noptimetry rules adam  # status 1\n```",
        "```sh\noptimetry rules nothing\n```",
        "```python\nprint('7 conform')\n```\n```text\n7 diverge\n```",
        "```python\nassert False\n```",
        "```sh\noptimetry rules adam\n```\n```text\nslots: moment2, moment1, zeros at first\n```",
    ],
)
def test_a_page_that_is_wrong_is_noticed(wrong, tmp_path):
    with pytest.raises(AssertionError):
        play(wrong, tmp_path)


def test_figures_may_differ_and_words_may_not(tmp_path):
    play("```python\nprint('adam  0.98  1.5e+06 beta1')\n```\n```text\nadam 0.97 2.5e+07 beta1\n```", tmp_path)
    with pytest.raises(AssertionError, match="not printed"):
        play("```python\nprint('adam 0.98 beta1')\n```\n```text\nadam 0.98 beta2\n```", tmp_path)
