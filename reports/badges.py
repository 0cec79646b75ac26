"""Makes badges of verdicts: SVG to put into a README, and JSON for the endpoint badge of shields.io."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from optimetry.reports.filenames import FileNames
from optimetry.reports.results import OUTCOMES, Outcome, Results, Verdict

COLOURS: dict[Outcome, str] = {
    "conforms": "#0f6b3a",
    "imprecise": "#7a5200",
    "dialect": "#0b57a4",
    "diverges": "#b3261e",
    "unsupported": "#5a6270",
    "error": "#b3261e",
}
"""The background of each outcome; white text has a contrast of at least 4.5 on it."""

LONGEST = 60
"""Characters of a label or a message."""

ADVANCE, PAD, HEIGHT = 6.6, 6, 20
"""Pixels for each character of 11 pixels, on both sides of a text, and in height."""


def badges(results: Sequence[Results]) -> Iterator[tuple[str, str]]:
    """Yield each file's name and text: for each target, rule and dtype an SVG and a JSON file.

    A badge has the worst outcome of the engines, with the name of a dialect, so that none of them hides behind another.
    What is not offered has no badge.
    """
    names = FileNames()
    for result in results:
        judged: dict[tuple[str, str], list[Verdict]] = {}
        for verdict in result.verdicts:
            if verdict.verdict != "unsupported":
                judged.setdefault((verdict.optimizer, verdict.dtype), []).append(verdict)
        for (optimizer, dtype), verdicts in judged.items():
            worst = max(verdicts, key=lambda verdict: OUTCOMES.index(verdict.verdict))
            label, message = f"{optimizer} {dtype}", " ".join(filter(None, (worst.verdict, worst.dialect)))
            file = Path(names.named("", result.header.target, optimizer, dtype, ending="svg")).name
            yield file, svg(label, message, COLOURS[worst.verdict])
            yield file.removesuffix("svg") + "json", endpoint(label, message, COLOURS[worst.verdict])


def endpoint(label: str, message: str, colour: str) -> str:
    """Write what shields.io reads from an endpoint (https://shields.io/badges/endpoint-badge)."""
    fields = {"schemaVersion": 1, "label": label[:LONGEST], "message": message[:LONGEST], "color": colour}
    return json.dumps(fields) + "\n"


def svg(label: str, message: str, colour: str) -> str:
    """Draw a badge, which needs no font and no network."""
    texts = [text[:LONGEST] for text in (label, message)]
    widths = [round(len(text) * ADVANCE) + 2 * PAD for text in texts]
    title = escape(": ".join(texts))
    drawn = []
    for text, width, left, ground in zip(texts, widths, (0, widths[0]), ("#3b4048", colour), strict=True):
        drawn.append(
            f'<rect x="{left}" width="{width}" height="{HEIGHT}" fill="{ground}"/>'
            f'<text x="{left + PAD}" y="14" textLength="{width - 2 * PAD}">{escape(text)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths)}" height="{HEIGHT}" role="img" '
        f'aria-label="{title}"><title>{title}</title><clipPath id="r"><rect width="{sum(widths)}" height="{HEIGHT}" '
        'rx="3"/></clipPath><g clip-path="url(#r)" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" '
        f'font-size="11">{"".join(drawn)}</g></svg>\n'
    )
