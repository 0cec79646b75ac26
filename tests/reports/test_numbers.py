"""Numbers are short, and say what a reader can use."""

import pytest

from optimetry.reports.numbers import LARGEST_SHARE, number, percent, share_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0.000"),
        (0.9312, "0.931"),
        (0.99996, "1.000"),
        (1.5, "1.500"),
        (9.9994, "9.999"),
        (9.9995, "10.0"),
        (99.94, "99.9"),
        (99.95, "100"),
        (0.001, "0.001"),
        (0.0009, "9.0e-04"),
        (999.4, "999"),
        (999.5, "1.0e+03"),
        (12.345, "12.3"),
        (123.4, "123"),
        (999.7, "1.0e+03"),
        (1234.5, "1.2e+03"),
        (1e-7, "1.0e-07"),
        (3, "3"),
        (9_999, "9999"),
        (114_792, "1.1e+05"),
        (2**62, "4.6e+18"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.0, "0 %"), (1e-9, "<0.1 %"), (0.001, "0.1 %"), (0.004, "0.4 %"), (0.99999, "99.9 %"), (1.0, "100 %")],
)
def test_percentages_are_never_rounded_to_none_or_all(part, text):
    assert percent(part) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "\N{EN DASH}"), (0.0, "0.000 bounds"), (12.345, "12.3 bounds"), (LARGEST_SHARE, "beyond any bound")],
)
def test_an_infinite_error_ratio_is_said_in_words(share, text):
    assert share_text(share, " bounds") == text
