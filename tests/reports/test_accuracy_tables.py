"""Errors at the defaults as tables: for a terminal, as a page, and in CSV."""

import dataclasses

import pytest

from optimetry.reports import accuracy_tables
from optimetry.reports.accuracy import LARGEST, Point, Spread
from optimetry.reports.results import Results
from tests.reports.written import GOOD, HEADER, accuracy

KERAS = dataclasses.replace(HEADER, target="keras", target_version="3")


def growing(**fields):
    """Errors that grow with the steps: N times as large at the Nth number of steps, of which 3 is in no table."""
    measured = accuracy(**fields)
    median = measured.points[0].update.median
    points = [
        Point(
            step=step,
            ulp=Spread(median=1.0 * n, p99=20.0 * n, largest=300.0 * n),
            update=Spread(median=median * n, p99=0.125 * n, largest=0.25 * n),
        )
        for n, step in enumerate((1, 3, 10, 100, 1_000, 10_000), 1)
    ]
    return dataclasses.replace(measured, points=points)


MEASURED = [
    growing(gradients="normal"),
    growing(),
    growing(engine="single"),
    growing(optimizer="lion", dtype="float64"),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.23e-7, "1.2e-07"),
        (0.00999, "1.0e-02"),
        (0.01, "0.01"),
        (0.034, "0.034"),
        (1.26, "1.3"),
        (9.94, "9.9"),
        (10.0, "10"),
        (123.4, "123"),
        (99_999.0, "99999"),
        (1e5, "1.0e+05"),
        (2e6, "2.0e+06"),
        (LARGEST, "∞"),
        (2 * LARGEST, "∞"),
    ],
)
def test_a_figure_has_two_digits(value, text):
    assert accuracy_tables.figure(value) == text


def test_a_wide_terminal_has_every_step_and_engines_side_by_side():
    table = accuracy_tables.terminal(MEASURED, 200)
    assert [" ".join(row.split()) for row in table.splitlines()[::2]] == [
        "optimizer dtype engine gradients 1 step 10 steps 100 steps 1,000 steps 10,000 steps ULP",
        "adam float32 fused normal 2.0e-06 (0.25) 6.0e-06 (0.75) 8.0e-06 (1) 1.0e-05 (1.2) 1.2e-05 (1.5) 1800",
        "lion float64 fused training 2.0e-06 (0.25) 6.0e-06 (0.75) 8.0e-06 (1) 1.0e-05 (1.2) 1.2e-05 (1.5) 1800",
    ]
    assert "  fused, single  " in table
    width = max(map(len, table.splitlines()))
    assert accuracy_tables.terminal(MEASURED, width) == table
    assert "100 steps" in accuracy_tables.terminal(MEASURED, width - 1)
    assert "single," not in accuracy_tables.terminal(MEASURED, width - 1)


def test_a_narrower_terminal_has_engines_below_each_other_and_then_fewer_steps():
    table = """\
optimizer    dtype    engine    gradients    1 step          100 steps    1,000 steps    10,000 steps      ULP
-----------  -------  --------  -----------  --------------  -----------  -------------  --------------  -----
adam         float32  fused     normal       2.0e-06 (0.25)  8.0e-06 (1)  1.0e-05 (1.2)  1.2e-05 (1.5)    1800
adam         float32  fused,    training     2.0e-06 (0.25)  8.0e-06 (1)  1.0e-05 (1.2)  1.2e-05 (1.5)    1800
                      single
lion         float64  fused     training     2.0e-06 (0.25)  8.0e-06 (1)  1.0e-05 (1.2)  1.2e-05 (1.5)    1800"""
    assert accuracy_tables.terminal(MEASURED, 110) == table


@pytest.mark.parametrize("width", [90, 10])
def test_the_narrowest_terminal_has_the_first_step_and_the_last(width):
    assert accuracy_tables.terminal(MEASURED, width).splitlines() == [
        "optimizer    dtype    engine    gradients    1 step          10,000 steps      ULP",
        "-----------  -------  --------  -----------  --------------  --------------  -----",
        "adam         float32  fused     normal       2.0e-06 (0.25)  1.2e-05 (1.5)    1800",
        "adam         float32  fused,    training     2.0e-06 (0.25)  1.2e-05 (1.5)    1800",
        "                      single",
        "lion         float64  fused     training     2.0e-06 (0.25)  1.2e-05 (1.5)    1800",
    ]


def test_the_only_engine_is_not_named():
    one = [growing(engine="default", gradients=name) for name in ("normal", "training")]
    assert accuracy_tables.terminal(one, 60).splitlines()[0].split()[:4] == ["optimizer", "dtype", "gradients", "1"]
    two = [*one, growing(engine="fused", gradients="other")]
    assert accuracy_tables.terminal(two, 60).splitlines()[0].split()[:3] == ["optimizer", "dtype", "engine"]


def test_a_page_of_one_target_has_a_table_for_each_rule():
    reached = [dataclasses.replace(each, points=each.points[:4]) for each in MEASURED]
    page = accuracy_tables.markdown([Results(HEADER, accuracy=reached), Results(KERAS, [GOOD])])
    assert (
        page
        == f"""# How accurate torch 2.13.0 is

{accuracy_tables.LEGEND}

## adam

| dtype   | engine        | gradients   | 1 step         | 10 steps       | 100 steps   |   ULP |
|:--------|:--------------|:------------|:---------------|:---------------|:------------|------:|
| float32 | fused         | normal      | 2.0e-06 (0.25) | 6.0e-06 (0.75) | 8.0e-06 (1) |  1200 |
| float32 | fused, single | training    | 2.0e-06 (0.25) | 6.0e-06 (0.75) | 8.0e-06 (1) |  1200 |

## lion

| dtype   | engine   | gradients   | 1 step         | 10 steps       | 100 steps   |   ULP |
|:--------|:---------|:------------|:---------------|:---------------|:------------|------:|
| float64 | fused    | training    | 2.0e-06 (0.25) | 6.0e-06 (0.75) | 8.0e-06 (1) |  1200 |
"""
    )


def test_a_page_of_several_has_the_error_of_the_engine_that_is_furthest_off():
    """After the last step of the training run, the median of the elements."""
    worse = [growing(engine="single", median=3e-4), growing(gradients="normal", median=0.5)]
    torch = Results(HEADER, accuracy=[*MEASURED, *worse, growing(optimizer="asgd", median=1.0)])
    papers = dataclasses.replace(growing(optimizer="muon", median=2.0), book="papers")
    page = accuracy_tables.markdown([torch, Results(KERAS, accuracy=[growing(), papers]), Results(HEADER, [GOOD])])
    assert (
        page
        == f"""# How accurate frameworks are

{accuracy_tables.SUMMARY}

## float32

### Rules of fluid, float32

| rule   |   torch 2.13.0 |   keras 3 |
|:-------|---------------:|----------:|
| adam   |        1.8e-03 |   1.2e-05 |
| asgd   |              6 |           |

### Rules of papers, float32

| rule   |   torch 2.13.0 |   keras 3 |
|:-------|---------------:|----------:|
| muon   |                |        12 |

## float64

### Rules of fluid, float64

| rule   |   torch 2.13.0 |   keras 3 |
|:-------|---------------:|----------:|
| lion   |        1.2e-05 |           |
"""
    )


def test_csv_has_every_digit_of_every_step():
    text = accuracy_tables.csv_text([Results(HEADER, accuracy=MEASURED[:1]), Results(KERAS, accuracy=MEASURED[3:])])
    header, *lines = text.splitlines()
    assert header == (
        "target,version,optimizer,dtype,engine,gradients,elements,step,"
        "ULP median,ULP p99,ULP largest,update median,update p99,update largest"
    )
    assert lines[0] == "torch,2.13.0,adam,float32,fused,normal,163,1,1.0,20.0,300.0,2e-06,0.125,0.25"
    assert (
        lines[4] == "torch,2.13.0,adam,float32,fused,normal,163,1000,5.0,100.0,1500.0,9.999999999999999e-06,0.625,1.25"
    )
    assert lines[-1] == "keras,3,lion,float64,fused,training,163,10000,6.0,120.0,1800.0,1.2e-05,0.75,1.5"
    assert len(lines) == 2 * 6


def test_a_run_of_any_length_has_a_column_of_its_last_step():
    short = [dataclasses.replace(each, points=each.points[:2]) for each in MEASURED]
    assert accuracy_tables.steps(MEASURED) == [1, 10, 100, 1_000, 10_000]
    assert accuracy_tables.steps(short) == [1, 3]
    assert accuracy_tables.steps([*short, *MEASURED]) == [1, 3, 10, 100, 1_000, 10_000]
