"""The static site: what is on its pages, that they hold together, and what a stranger's results cannot do to them."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from optimetry.conformance.commands.cli import main
from optimetry.reports.document import Document
from optimetry.reports.matrix import matrix as markdown_matrix
from optimetry.reports.results import Computes, Results, ResultsError, Writer
from optimetry.reports.site.build import build
from optimetry.reports.site.mathml import block, mathml
from optimetry.reports.site.words import limited, prose, ratio
from tests.reports.written import ABSENT, BAD, GOOD, HEADER

DOCUMENT = Document(
    book="fluid",
    optimizer="adam",
    source="fluid.optimizer.AdamOptimizer (page 000)",
    summary="Adam of :math:`m` and ``v``.",
    formulas=[r"w \leftarrow w - \frac{m}{\sqrt{v} + \epsilon}"],
    statements="param = param - lr * m",
    notes=["Decision: the new moments."],
)
TORCH = Results(HEADER, [GOOD, BAD, ABSENT], [DOCUMENT])
OLDER = Results(
    dataclasses.replace(HEADER, target_version="2.12.0"),
    [GOOD, dataclasses.replace(BAD, verdict="conforms", computes=Computes("documented"), dialect=None)],
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


class Page(HTMLParser):
    """What a page refers to, and whether every element that is opened is closed."""

    VOID = ("meta", "link", "input", "br", "img", "wbr")

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        attributes = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := attributes.get(name))]
        self.ids += [value for name in ("id",) if (value := attributes.get(name))]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def pages(folder: Path) -> dict[str, Page]:
    return {str(file.relative_to(folder)): Page(file) for file in sorted(folder.rglob("*.html"))}


def text_of(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_every_page_is_whole_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    written = build([TORCH, OLDER], tmp_path)
    site = pages(tmp_path)
    assert written[0] == tmp_path / "index.html"
    assert set(site) == {
        "index.html",
        *(f"rule/{name}.html" for name in ("adam", "ftrl", "sgd")),
        *(f"target/torch-{version}.html" for version in ("2.12.0", "2.13.0")),
    }
    for name, page in site.items():
        assert not page.open
        assert len(page.ids) == len(set(page.ids))
        for link in page.links:
            if link.startswith(("data:,", "#")):
                continue
            assert ":" not in link, "a page asks nobody but its own folder"
            assert (tmp_path / name).parent.joinpath(link).resolve().is_file()


def test_a_cell_says_what_is_computed_and_a_page_how_far_it_is(tmp_path: Path) -> None:
    build([TORCH], tmp_path)
    matrix, rule = text_of(tmp_path, "index.html"), text_of(tmp_path, "rule/adam.html")
    assert '<li data-verdict="dialect" data-of="float32/fused ">' in matrix
    assert "scaled_<wbr>epsilon" in matrix
    assert "beta1 in float32" in matrix
    assert "epsilon is scaled: √(1 + β₂ᵗ)" in rule
    assert "beyond any bound" in rule
    assert "<msqrt><mrow><mi>v</mi></mrow></msqrt>" in rule
    assert "Adam of <math" in rule
    assert "<code>v</code>" in rule
    assert "param = param - lr * m" in rule
    assert "print()" in rule
    assert "0.930 of the bound" in text_of(tmp_path, "rule/sgd.html")


def test_what_diverges_by_a_broken_law_says_so_in_its_cell(tmp_path: Path) -> None:
    broken = dataclasses.replace(BAD, verdict="diverges", computes=Computes(), dialect=None)
    build([Results(HEADER, [GOOD, broken])], tmp_path)
    assert "breaks rest" in text_of(tmp_path, "index.html")
    assert (
        markdown_matrix([Results(HEADER, [broken])])
        .splitlines()[-1]
        .split("|")[2]
        .strip()
        .startswith("**diverges**, breaks rest (")
    )
    assert "breaks" not in text_of(tmp_path, "rule/sgd.html")


def test_every_target_is_in_the_navigation(tmp_path: Path) -> None:
    many = [dataclasses.replace(TORCH, header=dataclasses.replace(HEADER, target_version=f"2.{i}")) for i in range(13)]
    build(many, tmp_path)
    links = Page(tmp_path / "rule/adam.html").links
    assert {f"../target/torch-2.{i}.html" for i in range(13)} <= set(links)
    assert "<summary>Libraries</summary>" in text_of(tmp_path, "index.html")


def test_a_formula_that_the_reason_states_is_not_repeated(tmp_path: Path) -> None:
    build([TORCH], tmp_path)
    assert "<dt>scaled_epsilon</dt>" in text_of(tmp_path, "rule/adam.html")
    assert BAD.computes.formula is not None
    build([Results(HEADER, [dataclasses.replace(BAD, reason=BAD.computes.formula)])], tmp_path)
    assert "<dt>scaled_epsilon</dt>" not in text_of(tmp_path, "rule/adam.html")


def test_two_versions_say_what_changed(tmp_path: Path) -> None:
    build([TORCH, OLDER], tmp_path)
    changes = text_of(tmp_path, "target/torch-2.13.0.html").split("Compared with")[1].split("</section>")[0]
    assert re.findall(r'<th scope="row">(\w+)</th>', changes) == ["adam", "ftrl"]
    assert "not judged" in changes


def test_results_without_documents_have_pages(tmp_path: Path) -> None:
    build([dataclasses.replace(TORCH, documents=[])], tmp_path)
    assert "were written before results files said" in text_of(tmp_path, "rule/adam.html")


def test_a_strangers_results_reach_no_page_as_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    header = dataclasses.replace(HEADER, target=f"../../x{evil}", target_version=evil, platform=evil)
    document = dataclasses.replace(
        DOCUMENT,
        summary=f"{evil} :math:`{evil}`",
        formulas=[evil, r"\href{javascript:alert(1)}{x}", "x" * 10_000, "\\frac{"],
        statements=evil,
        notes=[f"Decision: {evil}"],
    )
    verdict = dataclasses.replace(
        BAD,
        reason=evil * 500_000,
        engine=evil,
        computes=Computes(evil, evil),
        dialect=evil,
        counterexample={"case": evil, "script": evil},
    )
    folder = tmp_path / "site"
    build([Results(header, [verdict, dataclasses.replace(GOOD, optimizer=f"../{evil}")], [document])], folder)
    assert {file.name for file in tmp_path.iterdir()} == {"site"}
    for name, page in pages(folder).items():
        assert page.tags.count("script") == 1, "our own"
        assert not any("javascript" in link for link in page.links)
        assert (folder / name).stat().st_size < 100_000


@pytest.mark.parametrize(
    ("reports", "text"),
    [
        ([TORCH, TORCH], "two results of torch 2.13.0, must be one of each version of a target"),
        (
            [Results(HEADER, [GOOD, GOOD])],
            "torch 2.13.0: two verdicts on sgd float32 default, must be one of each engine and dtype",
        ),
    ],
)
def test_the_same_thing_twice_is_refused(reports: list[Results], text: str, tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=re.escape(text)):
        build(reports, tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_that_make_the_same_file_get_two(tmp_path: Path) -> None:
    headers = [dataclasses.replace(HEADER, target=name) for name in ("a/b", "a b", "A-B", "..")]
    build([Results(header, [GOOD]) for header in headers], tmp_path)
    names = {file.stem for file in (tmp_path / "target").iterdir()}
    assert names == {"a-b-2.13.0", "a-b-2.13.0-2", "A-B-2.13.0-3", "2.13.0"}


def test_pieces() -> None:
    assert limited("abc", 2) == "ab … (1 more characters in the results file)"
    assert ratio(0.5) == "0.500 of the bound"
    assert ratio(30.0) == "30.0 times the bound"
    assert prose("a < b: ``c`` ` d") == "a &lt; b: <code>c</code> ` d"
    assert mathml("x" * 3000) is None


def test_a_line_may_break_between_two_formulas_but_not_within_one():
    assert block(r"a = b \qquad c = d").count("<math") == 2
    assert block(r"\begin{cases} a & b \qquad c \\ d & e \end{cases}").count("<math") == 1
    assert block(r"\frac{a \qquad b}{c}").count("<math") == 1
    assert block(r"\qquad") is None
    assert block("a" + r"\qquad" + "x" * 3000) is None


def written(folder: Path, results: Results) -> Path:
    folder.mkdir()
    with Writer(folder / "results.jsonl", results.header) as writer:
        for document in results.documents:
            writer.write(document)
        for verdict in results.verdicts:
            writer.write(verdict)
    return folder


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = written(tmp_path / "results", TORCH)
    assert main(["report", str(results), "--site", str(tmp_path / "site")]) == 0
    assert f"written: {tmp_path / 'site' / 'index.html'}" in capsys.readouterr().out
    assert "fluid.optimizer.AdamOptimizer" in text_of(tmp_path / "site", "rule/adam.html")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["report", str(results), "--site", str(tmp_path / "file")]) == 2
    assert f"--site {tmp_path / 'file'}: {tmp_path / 'file'} is a file, must be a folder" in capsys.readouterr().err


def shown(page: Path, fragment: str) -> str:
    """The page as a browser shows it: the part of the document that its script has changed."""
    assert CHROMIUM is not None
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *options, page.as_uri() + fragment], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


@needs_browser
@pytest.mark.parametrize(
    ("fragment", "rules"),
    [
        ("", ["sgd", "adam", "ftrl"]),
        ("#?verdict=dialect", ["adam"]),
        ("#?search=beta1+torch", ["adam"]),
        ("#?engine=fused&search=sgd", []),
        ("#?search=%3Cscript%3E", []),
    ],
)
def test_a_link_filters_the_matrix_in_a_browser(fragment: str, rules: list[str], tmp_path: Path) -> None:
    page = build([TORCH], tmp_path)[0]
    document = shown(page, fragment)
    rows: list[Any] = re.findall(r'<tr id="(\w+)" class="rule"([^>]*)>', document)
    assert [name for name, attributes in rows if "hidden" not in attributes] == rules
    assert f">{len(rules)} of 3 rules</output>" in document
