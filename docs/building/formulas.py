"""Renders formulas as MathML while the site is built, by the renderer of result pages: no script, no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError

from optimetry.reports.site.mathml import block as in_block
from optimetry.reports.site.mathml import mathml


def inline(translator: Any, node: Any) -> None:
    """Write a formula within a line."""
    translator.body.append(rendered(node, partial(mathml, display="inline")))
    raise nodes.SkipNode


def block(translator: Any, node: Any) -> None:
    """Write a formula of its own, one paragraph of LaTeX a line; a wide one scrolls, by keyboard too."""
    lines = "".join(f"<div>{rendered(part, in_block)}</div>" for part in parts(node))
    label = "aria-label='formula' role='group' tabindex='0'"
    translator.body.append(f"<div class='formula' {label}>{lines}</div>")
    raise nodes.SkipNode


def parts(node: Any) -> list[nodes.Text]:
    """Split a block into its paragraphs."""
    return [nodes.Text(" ".join(part.split())) for part in node.astext().split("\n\n") if part.strip()]


def rendered(node: Any, renderer: Callable[[str], str | None]) -> str:
    """Return MathML.

    Raises:
        ExtensionError: it cannot be rendered.
    """
    text = renderer(node.astext())
    if text is None:
        raise ExtensionError(f"no MathML of {node.astext()!r}")
    return text


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
