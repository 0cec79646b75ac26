"""Adds what the theme leaves out for those who use a keyboard or a screen reader, once pages are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

REPLACEMENTS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    "<pre>": '<pre tabindex="0">',  # what scrolls must be reached by keyboard
    '<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
}
"""What the theme writes, and what stands there instead."""


def mend(app: Any, exception: Exception | None) -> None:
    """Rewrite all pages.

    Raises:
        ExtensionError: the theme writes something else by now.
    """
    if exception is not None or app.builder.name != "html":
        return
    texts = {page: page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html")}
    for before, after in REPLACEMENTS.items():
        if not any(before in text or after in text for text in texts.values()):
            raise ExtensionError(f"docs/building/accessible.py: no page has {before!r} any more")
    for page, text in texts.items():
        new = re.sub("|".join(map(re.escape, REPLACEMENTS)), lambda match: REPLACEMENTS[match[0]], text)
        if new != text:
            page.write_text(new, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Ask Sphinx to do it last."""
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
