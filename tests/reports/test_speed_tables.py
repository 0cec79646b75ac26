"""Times as tables: a page, with a section for what may be compared."""

import pytest

from optimetry.reports.results import Results
from optimetry.reports.speed import TOUCH, Speed, called
from optimetry.reports.speed_tables import LEGEND, markdown, terminal
from tests.reports.written import HEADER


def timed(contender: str, elements: int, nanoseconds: float, tensors: int = 1) -> Speed:
    return Speed(
        rule="sgd", contender=contender, dtype="float32", tensors=tensors, elements=elements, nanoseconds=nanoseconds,
        spread=0.0, bytes=12, gigabytes_per_second=1.0, touch_share=1.0, peer=None, peer_ratio=None,
    )  # fmt: skip


def test_a_page_has_a_table_for_each_number_of_parameters():
    """Contenders are in the order of the largest size, the fastest first; what was not timed is empty."""
    small, large = [timed("numba", 100, 8.0)], [timed("numba", 10_000, 0.51234), timed(TOUCH, 10_000, 0.5)]
    page = markdown([Results(HEADER, [], speed=small + large), Results(HEADER, [], speed=[timed("mine", 7, 3.0, 2)])])
    assert (
        page
        == f"""# How fast steps are

{LEGEND}

## sgd, float32, 1 parameter

|   elements |   speed of memory |   accelerated numba |
|-----------:|------------------:|--------------------:|
|        100 |                   |                   8 |
|     10,000 |               0.5 |               0.512 |

## sgd, float32, 2 parameters

|   elements |   mine |
|-----------:|-------:|
|          7 |      3 |
"""
    )


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        *((0.00001234, "1.23e-05"), (0.51234, "0.512"), (8.0, "8"), (12.345, "12.3")),
        *((999.4, "999"), (999.5, "1,000"), (1234.0, "1,230"), (1_234_567.0, "1,230,000")),
    ],
)
def test_a_time_has_three_significant_digits_and_is_written_out(nanoseconds: float, text: str) -> None:
    page = markdown([Results(HEADER, speed=[timed("mine", 100, nanoseconds)])])
    assert page.splitlines()[-1].split("|")[2].strip() == text
    assert terminal([timed("mine", 100, nanoseconds)]).splitlines()[-1].split() == ["mine", text]


def test_a_terminal_has_a_row_for_each_contender():
    rows = [timed("numba", 100, 8.0), timed("numba", 10_000, 0.51234), timed(TOUCH, 10_000, 0.5)]
    assert terminal([*rows, timed("mine", 7, 3.0, 2)]).splitlines() == [
        "sgd, float32, 1 parameter: nanoseconds for one element",
        "",
        "elements           100  10,000",
        "speed of memory            0.5",
        "accelerated numba    8   0.512",
        "",
        "sgd, float32, 2 parameters: nanoseconds for one element",
        "",
        "elements  7",
        "mine      3",
    ]


def test_contenders_have_names_for_readers_who_do_not_know_our_engines():
    names = {contender: called(contender) for contender in (TOUCH, "numba", "numpy", "torch fused")}
    assert names == {
        TOUCH: "speed of memory",
        "numba": "accelerated numba",
        "numpy": "accelerated numpy",
        "torch fused": "torch fused",
    }
