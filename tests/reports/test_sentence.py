"""The one sentence behind the tables."""

from __future__ import annotations

import dataclasses

import pytest

from optimetry.reports.parts import Part
from optimetry.reports.results import Computes, Outcome, Verdict
from optimetry.reports.sentence import next_step, sentence
from tests.reports.written import ABSENT, BAD, GOOD

PARTLY = Computes(None, parts=[Part("documented", run={"finding": "replaced", "new": "0", "old": "NaN in gradients"})])


def of(optimizer: str, *outcomes: Outcome) -> list[Verdict]:
    return [
        dataclasses.replace(GOOD, optimizer=optimizer, verdict=outcome, engine=str(number))
        for number, outcome in enumerate(outcomes)
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected", "first"),
    [
        ([GOOD], "torch computes 1 rule as documented.", None),
        ([GOOD, *of("adam", "conforms", "unsupported")], "torch computes all 2 rules as documented.", None),
        ([*of("l1_decay", "conforms")], "torch computes 1 wrapper as documented.", None),
        ([GOOD, *of("l1_decay", "conforms")], "torch computes all 2 rules and wrappers as documented.", None),
        (
            [BAD, *of("l1_decay", "conforms")],
            "torch computes 1 of 2 rules and wrappers as documented; adam computes another rule.",
            "adam",
        ),
        ([GOOD, BAD], "torch computes 1 of 2 rules as documented; adam computes another rule.", "adam"),
        ([BAD], "torch does not compute adam as documented: it computes another rule.", "adam"),
        (of("adam", "error"), "torch: adam ended with an error.", None),
        (of("adam", "imprecise"), "torch computes adam as documented, with less precision than its dtype.", "adam"),
        (
            of("adam", "conforms", "imprecise"),
            "torch computes adam as documented, in part with less precision than its dtype.",
            "adam",
        ),
        (
            [*of("adam", "conforms", "imprecise"), *of("sgd", "dialect"), *of("ftrl", "dialect", "diverges")],
            (
                "torch computes none of 3 rules as documented, and 1 in part; ftrl (in part) computes no known rule; "
                "sgd computes another rule; adam (in part) is less precise than its dtype."
            ),
            "ftrl",
        ),
        (
            [GOOD, *(verdict for name in "abcdefg" for verdict in of(name, "error"))],
            "torch computes 1 of 8 rules as documented; a, b, c, d, e and 2 more ended with errors.",
            None,
        ),
        (
            [GOOD, *(verdict for name in "abc" for verdict in of(name, "error"))],
            "torch computes 1 of 4 rules as documented; a, b and c ended with errors.",
            None,
        ),
        (
            [GOOD, *of("adam", "dialect"), *of("ftrl", "dialect")],
            "torch computes 1 of 3 rules as documented; adam and ftrl compute other rules.",
            "adam",
        ),
        ([ABSENT], "", None),
        (
            [dataclasses.replace(GOOD, verdict="diverges", law="resuming")],
            "torch does not compute sgd as documented: it breaks a law.",
            "sgd",
        ),
        (
            [dataclasses.replace(GOOD, verdict="diverges", law="resuming", share=2.1)],
            "torch does not compute sgd as documented: it computes no known rule.",
            "sgd",
        ),
        (
            [*of("adam", "conforms"), dataclasses.replace(GOOD, verdict="diverges", computes=PARTLY, share=9.0)],
            "torch computes 1 of 2 rules as documented; sgd differs in a way that the reason names.",
            "sgd",
        ),
    ],
)
def test_a_sentence_that_a_person_understands(verdicts: list[Verdict], expected: str, first: str | None) -> None:
    assert sentence("torch", verdicts, {"l1_decay"}) == expected
    assert next_step(verdicts) == first
