"""A pair of edits is tried in one order, where the other comes to the same."""

from __future__ import annotations

import pytest

from optimetry.conformance.naming.edits import single
from optimetry.conformance.naming.edits.single import replacements_of
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.programs import PARAM, Expression, parts_of, program_of, replaced, slots_of
from optimetry.conformance.naming.search.nearby import FAR
from optimetry.conformance.subjects.registry import subject_named

RULES = ("adam", "adagrad", "rmsprop")
OTHER = ("aside", "within")
"""What a part is replaced by: no operation that an edit knows."""


def levels(whole: Expression, part: Expression) -> int:
    """Count how deep a part stands within an expression, where it stands highest; `FAR` beyond what edits look at."""
    if whole == part:
        return 0
    operands = whole[1:] if isinstance(whole, tuple) else ()
    return min([FAR, *(1 + levels(operand, part) for operand in operands)])


def missed(name: str) -> list[str]:
    """Return why a pair of edits would be lost: edits far above another edit, or not known to look at it."""
    subject = subject_named(name)
    program = program_of(subject.of({}))
    assert program is not None
    numbers = tuple(x.name for x in subject.hyperparameters() if x.kind is float)
    names = InputNames(tuple(slots_of(program)), numbers)
    problems, compared = [], 0
    for part in parts_of(program[PARAM]):
        for inner in parts_of(part) if isinstance(part, tuple) else ():
            if inner != part and isinstance(inner, tuple):
                edited = replaced(part, inner, OTHER)
                before, after = (
                    {replaced(other, inner, OTHER) for other in replacements_of(whole, names)}
                    for whole in (part, edited)
                )
                looking = {replaced(x, inner, OTHER) for x in replacements_of(edited, names, of_operands=True)}
                if after - before and levels(part, inner) == FAR:
                    problems.append(f"{part} is looked at {FAR} levels below")
                if not after - before <= looking:
                    problems.append(f"an edit of {part} looks at operands, and does not say so")
                compared += levels(part, inner) == 1
    assert compared, "something was compared"
    return problems


@pytest.mark.parametrize("name", RULES)
def test_an_edit_far_within_a_part_leaves_its_edits_as_they_are(name):
    """So the part may be edited first, and what is within it second."""
    assert missed(name) == []


def deep(part, names):
    """Yield an edit that looks further within a part than pairs allow for."""
    match part:
        case (_, _, (_, (_, (_, inner)), _)):
            yield ("multiply", 3.0, inner)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            {"KINDS": (*single.KINDS, deep), "OF_OPERANDS": (*single.OF_OPERANDS, deep)},
            f"is looked at {FAR} levels below",
        ),
        ({"OF_OPERANDS": ()}, "looks at operands, and does not say so"),
    ],
    ids=["looks_further", "says_nothing"],
)
def test_kinds_of_edits_that_pairs_would_lose_are_rejected(kinds, words, monkeypatch):
    for name, value in kinds.items():
        monkeypatch.setattr(single, name, value)
    assert any(words in text for text in missed("adam"))


def test_edits_that_look_at_operands_are_fewer():
    part = ("add", ("sqrt", "slot"), "beta")
    names = InputNames(("slot",), ("beta",))
    looking = set(replacements_of(part, names, of_operands=True))
    assert ("sqrt", ("add", "slot", "beta")) in looking
    assert looking < set(replacements_of(part, names))
    assert ("multiply", "lr", part) not in looking
