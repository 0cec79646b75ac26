"""Offers the generated parts to pages: ``{rules} BOOK``, ``{commands}``, ``{picture} NAME``, ``{published} FILE``."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from docs.building import commands, pictures, rules

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "reports" / "published"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)]*\)")
BLOCK = re.compile(r"^```\{published\} (\S+)\n```$", re.MULTILINE)
IMAGE = re.compile(r"(!\[[^\]]*\]\()")


class Generated(SphinxDirective):
    """A part that the code makes: its page is read in every build, as its own file does not show a change."""

    def run(self) -> list[nodes.Node]:
        """Make the part."""
        self.env.note_reread()
        return self.made()

    def made(self) -> list[nodes.Node]:
        """Return the nodes that stand in its place."""
        raise NotImplementedError


class Rules(Generated):
    """Every rule of a book, or every wrapper."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        """Make a section for each."""
        (page,) = self.arguments
        if page not in rules.pages():
            raise self.error(f"rules: {page!r}, must be one of {', '.join(rules.pages())}")
        return self.parse_text_to_nodes(rules.page_of(page), allow_section_headings=True)


class Commands(Generated):
    """Every command with its help."""

    def made(self) -> list[nodes.Node]:
        """Make a section for each."""
        return self.parse_text_to_nodes(commands.page(), allow_section_headings=True)


class Picture(Generated):
    """A picture of the explanation, drawn while the site is built."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        """Draw it where the directive stands."""
        (name,) = self.arguments
        if name not in pictures.PICTURES:
            raise self.error(f"picture: {name!r}, must be one of {', '.join(pictures.PICTURES)}")
        shown = html.escape(pictures.PICTURES[name][-1])
        drawn = f'<div class="picture" role="img" aria-label="{shown}">{pictures.svg(name)}</div>'
        return [nodes.raw("", f"{drawn}<style>{pictures.colours()}</style>", format="html")]


def include_published(app: Any, docname: str, source: list[str]) -> None:
    """Put each page of ``reports/published`` that a page names in its place, before the page is parsed.

    Its title is left out, pictures are kept, and links become text. A directive would not do: what stands before the
    headings that it makes comes behind them.
    """

    def text_of(block: re.Match[str]) -> str:
        file = PUBLISHED / block[1]
        app.env.note_dependency(str(file))
        _, _, text = file.read_text(encoding="utf-8").partition("\n")
        return IMAGE.sub(rf"\1/../{file.parent.relative_to(ROOT).as_posix()}/", LINK.sub(r"\1", text))

    source[0] = BLOCK.sub(text_of, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Offer the directives to Sphinx."""
    for directive in (Rules, Commands, Picture):
        app.add_directive(directive.__name__.lower(), directive)
    app.connect("source-read", include_published)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
