"""Draws what a usual test and the suite make of every bug: a square for each, twice, in the same place."""

from __future__ import annotations

from collections.abc import Sequence

from optimetry.conformance.selftest.museum.showing import NOT_NAMED, Shown

COLUMNS, SIZE, GAP = 13, 20, 4
TOP, BETWEEN, MARGIN = 64, 60, 12

STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 12px; fill: #59636e }
.missed { fill: none; stroke: #b0b8c1; stroke-width: 1.5 }
.noticed { fill: #8fc7f2 }
.named { fill: #1668b8 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .missed { stroke: #59636e }
  .noticed { fill: #2b5f8c }
  .named { fill: #79c0ff }
}"""


def picture(bugs: Sequence[Shown], effort: str) -> str:
    """Draw the bugs as an SVG, readable in light and dark."""
    usual = ["noticed" if bug.usual else "missed" for bug in bugs]
    suite = ["missed" if not bug.rejected else "noticed" if bug.named == NOT_NAMED else "named" for bug in bugs]
    width = COLUMNS * (SIZE + GAP) - GAP
    rows = -(-len(bugs) // COLUMNS)
    whole = 2 * width + BETWEEN + 2 * MARGIN, TOP + rows * (SIZE + GAP) + 40
    noticed = sum(bug.usual for bug in bugs)
    rejected = sum(bug.rejected for bug in bugs)
    right = MARGIN + width + BETWEEN
    title = f"Of {len(bugs)} real bugs a usual test notices {noticed}, optimetry {rejected}"
    foot = TOP + rows * (SIZE + GAP) + 22
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}"',
        f'  viewBox="0 0 {whole[0]} {whole[1]}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f"<style>\n{STYLE}\n</style>",
        *_heading(
            MARGIN, f"A usual test notices {noticed} of {len(bugs)}", "defaults, N(0, 1), ten steps, rtol = 1e-5"
        ),
        *_heading(right, f"optimetry rejects {rejected} of {len(bugs)}", f"--effort {effort}"),
        *_squares(MARGIN, usual, bugs),
        *_squares(right, suite, bugs),
        *_key(MARGIN, foot, (("missed", "not noticed"), ("noticed", "noticed"), ("named", "and its cause named"))),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _heading(left: int, text: str, how: str) -> list[str]:
    return [f'<text x="{left}" y="26">{text}</text>', f'<text class="small" x="{left}" y="46">{how}</text>']


def _squares(left: int, kinds: Sequence[str], bugs: Sequence[Shown]) -> list[str]:
    return [
        f'<rect class="{kind}" x="{left + i % COLUMNS * (SIZE + GAP)}" y="{TOP + i // COLUMNS * (SIZE + GAP)}" '
        f'width="{SIZE}" height="{SIZE}" rx="3"><title>{bug.name}</title></rect>'
        for i, (kind, bug) in enumerate(zip(kinds, bugs, strict=True))
    ]


def _key(left: int, top: int, entries: Sequence[tuple[str, str]]) -> list[str]:
    lines = []
    for i, (kind, text) in enumerate(entries):
        x = left + 130 * i
        lines.append(f'<rect class="{kind}" x="{x}" y="{top - 11}" width="12" height="12" rx="2"/>')
        lines.append(f'<text class="small" x="{x + 18}" y="{top}">{text}</text>')
    return lines
