"""Laws of several engines: honest ones keep them, the odd one out is named, and one that is right is not."""

from __future__ import annotations

from typing import Any

import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.selftest.equivalents import STYLES
from optimetry.conformance.selftest.equivalents.engines import StyledTarget
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.engines import AmongEngines
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard

BLEND, NEGATED = "one_engine_steps_along_a_blend", "one_engine_saves_a_negated_velocity"


def breaches(law: str, target: Target, engines: list[Target], optimizer: str) -> list[str]:
    """How some cases break the law in one engine; empty if none does."""
    cases = [case for case in drawn_cases(SUBJECTS[optimizer], "float32", seed=0, count=30) if len(case.grads) > 2]
    tried = [LAWS[law].broken(Trial(target, case, Guard(), engines=engines)) for case in cases[:6]]
    assert tried
    return [text for text in tried if text is not None]


def faulty(name: str) -> tuple[Any, list[Target]]:
    target = FAULTS[name].target()
    return target, list(engines_of(target))


@pytest.mark.parametrize("optimizer", ["adam", "lars_momentum", "exponential_moving_average"])
def test_honest_engines_continue_each_other(optimizer: str) -> None:
    engines: list[Target] = [StyledTarget(style) for style in list(STYLES.values())[:2]]
    if optimizer == "exponential_moving_average":  # which no style computes
        engines = faulty(NEGATED)[1][:2]
    for law in ("engines_agree", "engines_continue_each_other"):
        assert breaches(law, engines[-1], engines, optimizer) == []


@pytest.mark.parametrize(("law", "name"), [("engines_agree", BLEND), ("engines_continue_each_other", NEGATED)])
def test_the_odd_one_out_of_three_is_named_and_no_other(law: str, name: str) -> None:
    odd, engines = faulty(name)
    assert all(
        text.startswith("engine fused departs from single and foreach: ")
        for text in breaches(law, odd, engines, "momentum")
    )
    assert breaches(law, odd, engines, "momentum")
    for honest in engines[:2]:
        assert breaches(law, honest, engines, "momentum") == []


def test_of_two_engines_the_one_that_is_listed_first_is_not_the_odd_one() -> None:
    odd, (single, *_) = faulty(NEGATED)
    law = "engines_continue_each_other"
    assert breaches(law, odd, [single, odd], "momentum")
    assert breaches(law, single, [single, odd], "momentum") == []
    assert breaches(law, odd, [odd, single], "momentum") == []


def test_an_engine_that_computes_the_formula_is_right_whatever_most_others_do() -> None:
    blended, (single, *_) = faulty(BLEND)
    again = AmongEngines(FAULTS[BLEND])
    assert breaches("engines_agree", single, [blended, again, single], "momentum") == []
    assert breaches("engines_agree", blended, [blended, again, single], "momentum") == []


def test_engines_that_save_other_slots_are_not_asked_to_continue_each_other() -> None:
    odd, engines = faulty(NEGATED)
    plain = odd.start

    def start(*arguments: Any) -> Any:
        run = plain(*arguments)
        saved = run.state
        run.state = lambda: {**saved(), "own": [array for arrays in saved().values() for array in arrays]}
        return run

    odd.start = start
    assert breaches("engines_continue_each_other", odd, engines, "momentum") == []


def test_an_engine_has_its_name() -> None:
    assert [engine_name(engine) for engine in faulty(NEGATED)[1]] == ["single", "foreach", "fused"]
