"""Writes numbers with few digits: error ratios, differences and parts."""

from __future__ import annotations

import sys

SLACK = 2.0
"""The largest error ratio that conforms: 1 is for the formula's own order of operations, 2 for regrouped ones."""

LARGEST_SHARE = sys.float_info.max
"""Stands for an infinite error ratio: a difference where the bound is zero, or a NaN where a number is expected."""

NONE = "\N{EN DASH}"


def number(value: float | None) -> str:
    """Write a number with few digits: 0.930, 12.5, 1.2e+03; a count below 10,000 with all of them; – for none."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return str(value) if value < 10**4 else f"{value:.1e}"
    if value and not 0.001 <= value < 999.5:
        return f"{value:.1e}"
    return f"{value:.3f}" if value < 9.9995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def share_text(share: float | None, unit: str = "") -> str:
    """Write an error ratio with its unit behind it; one that is infinite in words, and – for none."""
    if share == LARGEST_SHARE:
        return "beyond any bound"
    return number(share) + unit * (share is not None)


def percent(part: float) -> str:
    """Write a fraction in percent: 0 %, 0.4 %, <0.1 %, never rounded to 0 % or 100 %."""
    if part in (0, 1):
        return f"{part:.0%}".replace("%", " %")
    if part < 0.001:
        return "<0.1 %"
    return f"{min(part * 100, 99.9):.1f} %"


def three_digits(value: float) -> str:
    """Write a number with three significant digits, and no exponent from 0.0001 on: 0.512, 8, 12.3, 1,230."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:g}"
