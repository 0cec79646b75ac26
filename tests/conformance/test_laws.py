"""Laws, each held against targets that keep it and against targets that break one part of it."""

from __future__ import annotations

import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.laws import LAWS, laws_of
from optimetry.conformance.laws.law import law
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard


def some_cases(optimizer: str, dtype: str = "float32") -> list[Case]:
    """Cases of some steps and few: laws run a target dozens of times."""
    found = drawn_cases(SUBJECTS[optimizer], dtype, seed=0, count=40)
    return [case for case in found if 3 <= len(case.grads) <= 8][:6]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_the_reference_keeps_every_law(optimizer: str, dtype: str) -> None:
    laws = [one for one in laws_of(SUBJECTS[optimizer]) if not one.slow]
    for case in some_cases(optimizer, dtype)[:2]:
        assert {one.name: one.broken(NumpyTarget(), case, Guard()) for one in laws} == dict.fromkeys(
            one.name for one in laws
        )


@pytest.mark.parametrize(
    "name",
    [
        "missing_gradient_is_zero",
        "missing_gradient_repeats_the_last",
        "missing_gradient_resets_state",
    ],
)
def test_a_parameter_without_a_gradient_must_keep_its_bits_and_its_state(name: str) -> None:
    """Whoever keeps the bits and changes the state shows it in the steps that follow."""
    fault = FAULTS[name]
    cases = some_cases(fault.optimizer)
    assert any(LAWS["missing_gradient"].broken(fault.target(), case, Guard()) for case in cases)


def test_a_law_that_does_not_apply_is_not_broken() -> None:
    (case, *_) = some_cases("clip_by_norm")
    assert LAWS["missing_gradient"].broken(FAULTS["largest_element"].target(), case, Guard()) is None
    assert LAWS["clipping_twice"] in laws_of(SUBJECTS["clip_by_norm"])
    assert LAWS["clipping_twice"] not in laws_of(SUBJECTS["adam"])


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_universal_laws_come_first(optimizer: str) -> None:
    universal = [one.universal for one in laws_of(SUBJECTS[optimizer])]
    assert universal == sorted(universal, reverse=True)
    assert any(universal)


def test_a_law_is_entered_once() -> None:
    def repeatable(trial: object) -> None:
        """Has the name of another."""

    with pytest.raises(ValueError, match="law repeatable is entered twice"):
        law("two runs differ")(repeatable)
