"""Certificates: their sum, their lines in a file, and their tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from optimetry.reports import certificate_tables
from optimetry.reports.certificate import SHOWN, Certificate, Failure, Place
from optimetry.reports.keeping import write
from optimetry.reports.numbers import NONE
from optimetry.reports.results import Results, read
from tests.reports.written import CERTIFICATE, GOOD, HEADER

FAILURE = Failure(parameter="0x3c00", gradients=["0x0001", "0x0002"], result="0x7e00", expected=0.5, bound=1e-3)
ENDED = dataclasses.replace(
    CERTIFICATE,
    optimizer="adam",
    engine="fused",
    step="later",
    setting="beta1 = 0.5",
    pairs=2**20,
    vacuous=2**18,
    flushed=0,
    failures=1234,
    share=None,
    ulp=Place(value=12345.0, parameter="0x0001", gradients=["0x0003", "0x0004", "0x0005"]),
    examples=[FAILURE],
    reason="no reply",
)
BOTH = [CERTIFICATE, ENDED]


def place(value: float, parameter: str) -> Place:
    return Place(value=value, parameter=parameter, gradients=["0x3555"])


def failures(*parameters: str) -> list[Failure]:
    return [dataclasses.replace(FAILURE, parameter=each) for each in parameters]


def block(**fields: object) -> Certificate:
    """Return the certificate of one block."""
    return dataclasses.replace(CERTIFICATE, **{"share": None, "ulp": None, **fields})  # type: ignore[arg-type]


def test_the_certificate_of_two_blocks_adds_what_they_count_and_keeps_the_largest() -> None:
    """Of equal figures the first is kept, of failures the first `SHOWN`."""
    first = block(
        pairs=100, vacuous=10, failures=2, flushed=3, share=place(5.0, "0x0001"), ulp=place(9.0, "0x0001"),
        examples=failures("0x0001", "0x0002"),
    )  # fmt: skip
    second = block(
        pairs=200, vacuous=40, failures=7, flushed=5, share=place(6.0, "0x0002"), ulp=place(9.0, "0x0002"),
        examples=failures("0x0003", "0x0004"),
    )  # fmt: skip
    assert SHOWN == 3
    assert first + second == block(
        pairs=300, vacuous=50, failures=9, flushed=8, share=place(6.0, "0x0002"), ulp=place(9.0, "0x0001"),
        examples=failures("0x0001", "0x0002", "0x0003"),
    )  # fmt: skip
    assert (second + first).share == place(6.0, "0x0002")


def test_a_block_without_finite_bounds_adds_no_figure() -> None:
    figures, none = block(share=place(5.0, "0x0001"), ulp=place(9.0, "0x0001")), block()
    for total in (figures + none, none + figures):
        assert (total.share, total.ulp) == (figures.share, figures.ulp)
    assert ((none + none).share, (none + none).ulp) == (None, None)


def test_a_sum_has_the_reason_of_the_first_block_that_ended_early() -> None:
    whole, hung, ended = block(), block(reason="hung"), block(reason="ended")
    pairs = [(whole, whole), (whole, hung), (hung, whole), (hung, ended)]
    assert [(a + b).reason for a, b in pairs] == ["", "hung", "hung", "hung"]


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({}, True),
        ({"pairs": 5, "vacuous": 4}, True),
        ({"pairs": 5, "vacuous": 5}, False),
        ({"failures": 1}, False),
        ({"reason": "hung"}, False),
    ],
)
def test_a_certificate_holds_where_some_pair_was_judged_and_none_failed(fields: dict[str, object], holds: bool) -> None:
    assert block(**fields).holds == holds


def test_certificates_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    write(file, Results(HEADER, certificates=BOTH))
    assert read(file).certificates == BOTH


def words(text: str) -> list[str]:
    """Return the lines with one space between words, but for the one below the header."""
    header, _, *lines = [" ".join(line.split()) for line in text.splitlines()]
    return [header, *lines]


def test_a_wide_terminal_has_figures_and_arguments_side_by_side() -> None:
    wide = certificate_tables.terminal(BOTH, 500)
    assert words(wide) == [
        "optimizer dtype engine step setting pairs judged flushed failures share ULP",
        f"sgd float16 default first defaults all 4,294,967,296 50.0% 7 0 0.75 at w 0x3c01, g 0x3555 {NONE}",
        (
            f"adam float16 fused later beta1 = 0.5 1,048,576 (0.02% of all) 75.0% 0 error: no reply {NONE} "
            "12,345 at w 0x0001, g 0x0003 … 0x0005"
        ),
    ]
    width = max(map(len, wide.splitlines()))
    assert certificate_tables.terminal(BOTH, width) == wide
    assert certificate_tables.terminal(BOTH, width - 1) != wide


def test_a_share_is_all_only_where_it_is_all() -> None:
    nearly = dataclasses.replace(CERTIFICATE, space=2**32, pairs=2**32 - 1, vacuous=1000)
    assert certificate_tables.rows([nearly])[0][5:7] == ["4,294,967,295 (99.99% of all)", "99.9%"]
    whole = dataclasses.replace(CERTIFICATE, space=2**32, pairs=2**32, vacuous=0)
    assert certificate_tables.rows([whole])[0][5:7] == ["all 4,294,967,296", "100.0%"]


def test_a_narrow_terminal_has_arguments_below_the_share_and_no_column_that_says_nothing() -> None:
    assert words(certificate_tables.terminal(BOTH, 100)) == [
        "optimizer dtype engine step setting pairs judged flushed failures share ULP",
        f"sgd float16 default first defaults all 4,294,967,296 50.0% 7 0 0.75 {NONE}",
        "w 0x3c01, g 0x3555",
        f"adam float16 fused later beta1 = 0.5 1,048,576 75.0% 0 error: no reply {NONE} 12,345",
        "(0.02% of all)",
    ]
    certificate = dataclasses.replace(CERTIFICATE, flushed=0, ulp=place(3.0, "0x3c02"))
    assert certificate_tables.terminal([certificate], 100).splitlines() == [
        "optimizer    dtype    step                pairs    judged    failures  share               ULP",
        "-----------  -------  ------  -----------------  --------  ----------  ------------------  -----",
        "sgd          float16  first   all 4,294,967,296     50.0%           0  0.75                3",
        "                                                                       w 0x3c01, g 0x3555",
    ]


def test_a_failure_is_a_line_with_its_arguments() -> None:
    assert list(certificate_tables.failures(BOTH)) == [
        "failure: adam float16 (engine fused, beta1 = 0.5): w 0x3c00, g 0x0001 0x0002 gives 0x7e00, must be 0.5 ± 0.001"
    ]


def test_the_page_of_certificates_has_a_section_for_each_target_that_has_some() -> None:
    other, last = (dataclasses.replace(HEADER, target=name) for name in ("another", "last"))
    page = certificate_tables.markdown(
        [Results(HEADER, certificates=BOTH), Results(other, [GOOD]), Results(last, certificates=[CERTIFICATE])]
    )
    table = f"""\
| optimizer   | dtype   | engine   | step   | setting   |             pairs |   judged |   flushed |   failures | share                      | ULP   |
|:------------|:--------|:---------|:-------|:----------|------------------:|---------:|----------:|-----------:|:---------------------------|:------|
| sgd         | float16 | default  | first  | defaults  | all 4,294,967,296 |    50.0% |         7 |          0 | 0.75 at w 0x3c01, g 0x3555 | {NONE}     |"""  # noqa: E501
    assert certificate_tables.table([CERTIFICATE]) == table
    both = certificate_tables.table(BOTH)
    assert (
        page
        == f"# Certificates\n\n{certificate_tables.LEGEND}\n\n## torch 2.13.0\n\n{both}\n\n## last 2.13.0\n\n{table}\n"
    )


def test_csv_has_every_figure_and_all_gradients() -> None:
    assert certificate_tables.csv_text([Results(HEADER, certificates=BOTH), Results(HEADER, [GOOD])]).splitlines() == [
        (
            "target,version,optimizer,dtype,engine,step,setting,space,pairs,vacuous,flushed,failures,"
            "share,share parameter,share gradients,ULP,ULP parameter,ULP gradients,reason"
        ),
        ("torch,2.13.0,sgd,float16,default,first,defaults,4294967296,4294967296,2147483648,7,0,0.75,0x3c01,0x3555,,,,"),
        (
            "torch,2.13.0,adam,float16,fused,later,beta1 = 0.5,4294967296,1048576,262144,0,1234,"
            ",,,12345.0,0x0001,0x0003 0x0004 0x0005,no reply"
        ),
    ]
