"""The bound is not looser than needed: the share of it that NumPy reaches, as published."""

from __future__ import annotations

import pytest

from optimetry.conformance.numerics.formats import FORMATS
from tests.conformance import tightness

LEAST_MEDIAN = {"one operation": 0.8, "depth 2": 0.6, "depth 3": 0.45, "depth 4": 0.4}
"""What at least half of the random expressions need of their bound. A bound twice as large would fail."""

LEAST_LARGEST = 0.97
"""What some expression of every row needs of its bound."""


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, str], tightness.Shares]:
    return tightness.measure()


@pytest.mark.parametrize("kind", tightness.KINDS)
@pytest.mark.parametrize("form", FORMATS)
def test_a_bound_is_needed(form: str, kind: str, measured: dict[tuple[str, str], tightness.Shares]) -> None:
    median, _, largest, vacuous = measured[form, kind]
    assert median > LEAST_MEDIAN.get(kind, 0)
    assert LEAST_LARGEST < largest <= 1
    assert vacuous < 0.2


def test_the_published_page_is_up_to_date(measured: dict[tuple[str, str], tightness.Shares]) -> None:
    fresh = tightness.page(measured)
    assert tightness.PAGE.read_text(encoding="utf-8") == fresh, "run python -m tests.conformance.tightness"
