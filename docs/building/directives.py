"""Offers the generated parts to pages: ``{rules} BOOK``, ``{commands}`` and ``{picture} NAME``."""

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
IMAGE = re.compile(r"(!\[[^\]]*\]\()")


class Rules(SphinxDirective):
    """Every rule of a book, or every wrapper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make a section for each."""
        (page,) = self.arguments
        if page not in rules.pages():
            raise self.error(f"rules: {page!r}, must be one of {', '.join(rules.pages())}")
        return self.parse_text_to_nodes(rules.page_of(page), allow_section_headings=True)


class Commands(SphinxDirective):
    """Every command with its help."""

    def run(self) -> list[nodes.Node]:
        """Make a section for each."""
        return self.parse_text_to_nodes(commands.page(), allow_section_headings=True)


class Published(SphinxDirective):
    """A page of ``reports/published`` without its title; pictures are kept, and links become text."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the page where the directive stands."""
        file = PUBLISHED / self.arguments[0]
        self.env.note_dependency(str(file))
        _, _, text = file.read_text(encoding="utf-8").partition("\n")
        text = IMAGE.sub(rf"\1/../{file.parent.relative_to(ROOT).as_posix()}/", LINK.sub(r"\1", text))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class Picture(SphinxDirective):
    """A picture of the explanation, drawn while the site is built."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw it where the directive stands."""
        (name,) = self.arguments
        if name not in pictures.PICTURES:
            raise self.error(f"picture: {name!r}, must be one of {', '.join(pictures.PICTURES)}")
        shown = html.escape(pictures.PICTURES[name][-1])
        drawn = f'<div class="picture" role="img" aria-label="{shown}">{pictures.svg(name)}</div>'
        return [nodes.raw("", f"{drawn}<style>{pictures.colours()}</style>", format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Offer the directives to Sphinx."""
    for directive in (Rules, Commands, Picture, Published):
        app.add_directive(directive.__name__.lower(), directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
