"""A pair of edits is tried in one order, where the other comes to the same."""

from __future__ import annotations

import pytest

from optimetry.conformance.naming.edits import others_of
from optimetry.conformance.naming.nearby import FAR
from optimetry.conformance.naming.programs import PARAM, Expression, parts_of, program_of, replaced, slots_of
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


@pytest.mark.parametrize("name", RULES)
def test_an_edit_far_within_a_part_leaves_its_edits_as_they_are(name):
    """So the part may be edited first, and what is within it second."""
    subject = subject_named(name)
    program = program_of(subject.of({}))
    numbers, slots = [x.name for x in subject.hyperparameters() if x.kind is float], slots_of(program)
    compared = {1: 0, 2: 0, FAR: 0}
    for part in parts_of(program[PARAM]):
        for inner in parts_of(part) if isinstance(part, tuple) else ():
            if inner != part and isinstance(inner, tuple):
                level = levels(part, inner)
                edited = replaced(part, inner, OTHER)
                before, after = (
                    {replaced(other, inner, OTHER) for other in others_of(whole, slots, numbers)}
                    for whole in (part, edited)
                )
                new = after - before
                assert not new or level < FAR, f"{part} is looked at {level} levels below"
                looking = {replaced(x, inner, OTHER) for x in others_of(edited, slots, numbers, looking=True)}
                assert new <= looking, "an edit that looks at operands does not say so"
                compared[level] += 1
    assert compared[1], "something was compared"


def test_edits_that_look_at_operands_are_fewer():
    part = ("add", ("sqrt", "slot"), "beta")
    looking = set(others_of(part, ["slot"], ["beta"], looking=True))
    assert ("sqrt", ("add", "slot", "beta")) in looking
    assert looking < set(others_of(part, ["slot"], ["beta"]))
    assert ("multiply", "lr", part) not in looking
