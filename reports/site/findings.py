"""Splits a page of findings, in Markdown, into one page for each of its sections."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from optimetry.reports.filenames import FileNames


@dataclass(frozen=True)
class FindingSection:
    """One section.

    Attributes:
        name: its heading, as plain text.
        file: its page.
        body: what stands below the heading, as HTML that is safe to show.
        rules: the rules that its heading or its tables name.
    """

    name: str
    file: str
    body: str
    rules: list[str]


def findings(text: str, rules: Collection[str], files: FileNames) -> list[FindingSection]:
    """Read the sections of a page, in its order.

    HTML in the page is shown as text. Links to files become their text, since the files do not lie beside the site.

    Args:
        text: the page; each section begins with a heading of the second level.
        rules: the names of the rules that have a page.
        files: names the pages.
    """
    parser = _parser()
    tokens = parser.parse(text)
    starts = [i for i, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    sections = []
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        heading, body = tokens[start + 1], tokens[start + 3 : end]
        for token in body:
            if token.children:
                token.children = list(_without_files(token.children))
        named = [heading, *_cells(body)]
        mentioned = [child.content for token in named for child in token.children or () if child.type == "code_inline"]
        name = "".join(child.content for child in heading.children or ())
        sections.append(
            FindingSection(
                name=name,
                file=files.named("finding", name.replace("`", "")),
                body=parser.renderer.render(body, parser.options, {}),
                rules=list(dict.fromkeys(word for word in mentioned if word in rules)),
            )
        )
    return sections


def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule(
        "table_open", lambda *_: '<div class="scroll" tabindex="0">\n<table class="figures-table">\n'
    )
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _cells(tokens: Sequence[Any]) -> Iterator[Any]:
    """Yield the contents of the cells of tables."""
    for before, token in pairwise(tokens):
        if before.type == "td_open":
            yield token


def _without_files(tokens: Sequence[Any]) -> Iterator[Any]:
    """Leave out the links that do not lead to the web."""
    dropped = 0
    for token in tokens:
        if token.type == "link_open" and not str(token.attrs.get("href", "")).startswith(("https://", "http://")):
            dropped += 1
        elif token.type == "link_close" and dropped:
            dropped -= 1
        elif token.type != "image":
            yield token
