"""The words, signs and pieces of text that templates are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optimetry.reports import accuracy_tables, certificate_tables
from optimetry.reports.accuracy import Accuracy
from optimetry.reports.certificate import Certificate
from optimetry.reports.numbers import SLACK, number, percent, share_text
from optimetry.reports.results import Outcome
from optimetry.reports.site.mathml import block, mathml
from optimetry.reports.speed import called
from optimetry.reports.tables import about

if TYPE_CHECKING:
    from markupsafe import Markup

SIGNS: dict[Outcome, str] = {
    "conforms": "\N{CHECK MARK}",
    "imprecise": "\N{ALMOST EQUAL TO}",
    "dialect": "\N{WHITE DIAMOND}",
    "diverges": "\N{BALLOT X}",
    "unsupported": "\N{EN DASH}",
    "error": "!",
}
"""The shape of each outcome: a colour alone says nothing to many readers, and nothing on paper."""

MEANINGS: dict[Outcome, str] = {
    "conforms": "computes the documented rule, to the last rounding error",
    "imprecise": "computes the documented rule with less precision than the dtype promises",
    "dialect": "computes exactly one other rule, which has a name",
    "diverges": "computes no rule that is known or was found, or breaks a law",
    "unsupported": "does not offer the rule",
    "error": "raised an error, hung, changed its inputs, or returned other shapes or dtypes",
}

WORDS = (
    (1e-4, "no one will notice"),
    (1e-2, "a training ends slightly different"),
    (0.5, "changes training"),
    (math.inf, "another optimizer"),
)
"""What errors below a limit mean; 1 is another update altogether."""

LONGEST = 4000
"""Characters of one text that a page shows."""


def limited(text: str, longest: int = LONGEST) -> str:
    """Cut a text that is too long for a page, and say so."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} \N{HORIZONTAL ELLIPSIS} ({len(text) - longest} more characters in the results file)"


def breakable(text: str) -> Markup:
    """Let a long name be broken behind its underscores."""
    from markupsafe import Markup, escape

    return escape(limited(text, 200)).replace("_", Markup("_<wbr>"))


def rendered(latex: str) -> Markup:
    """Render a formula on lines of its own; one that cannot be rendered is shown as LaTeX."""
    from markupsafe import Markup, escape

    made = block(latex)
    return Markup(made) if made else Markup("<code>{}</code>").format(escape(limited(latex)))


def prose(text: str) -> Markup:
    """Render sentences of reStructuredText: formulas and code inside them, all else as plain text."""
    from markupsafe import Markup, escape

    pieces = [Markup("")]
    for formula, code, plain in re.findall(r":math:`([^`]*)`|``([^`]*)``|([^:`]+|.)", limited(text), re.DOTALL):
        made = mathml(formula, "inline") if formula else None
        if made:
            pieces.append(Markup(made))
        elif formula or code:
            pieces.append(Markup("<code>{}</code>").format(formula or code))
        else:
            pieces.append(escape(plain))
    return Markup("").join(pieces)


def ratio(share: float | None) -> str:
    """Write an error ratio in words, as a share or multiple of the bound."""
    return share_text(share, " times the bound" if share is not None and share > SLACK else " of the bound")


def in_words(measured: Sequence[Accuracy]) -> str:
    """Say what errors mean for a training at the defaults, and how large they are; empty where none is known.

    The words are a rule of thumb, no verdict.

    The worst of the medians after the last step on a model's gradients counts, in the widest dtype that was measured.
    Half precision tells nothing: there, rounding the parameter alone may be as large as its update.
    """
    medians = {
        dtype: [
            each.points[-1].update.median for each in measured if (each.gradients, each.dtype) == ("training", dtype)
        ]
        for dtype in ("float64", "float32")
    }
    widest = next(filter(None, medians.values()), None)
    if widest is None:
        return ""
    words = next(words for limit, words in WORDS if max(widest) < limit)
    return f"{words} ({accuracy_tables.figure(max(widest))} of an update)"


def certificates(records: Sequence[Certificate]) -> list[list[tuple[str, bool]]]:
    """Return the certificates of one rule as a table: names, then rows; each cell with whether it is a figure."""
    table = [list(certificate_tables.COLUMNS), *certificate_tables.rows(records)]
    figures = [name in certificate_tables.FIGURES for name in certificate_tables.COLUMNS]
    return [list(zip(row, figures, strict=True))[1:] for row in table]  # the rule is that of the page


FILTERS = {
    "about": about,
    "breakable": breakable,
    "called": called,
    "certificates": certificates,
    "columns": lambda measured: accuracy_tables.columns(accuracy_tables.steps(measured)),
    "failures": certificate_tables.failures,
    "in_words": in_words,
    "limited": limited,
    "meaning": MEANINGS.__getitem__,
    "number": number,
    "percent": percent,
    "prose": prose,
    "ratio": ratio,
    "rendered": rendered,
    "rows": lambda measured: accuracy_tables.rows(measured, accuracy_tables.steps(measured)),
    "share": share_text,
    "sign": SIGNS.__getitem__,
}
"""The functions that templates call, by name."""
