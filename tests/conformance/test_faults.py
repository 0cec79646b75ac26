"""The suite convicts every faulty target, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from optimetry.conformance.laws import LAWS
from optimetry.conformance.selftest.faults import FAULTS, Fault, outcome, rejected_by
from optimetry.conformance.selftest.faults.fault import enter
from optimetry.conformance.selftest.faults.mutations import mutant
from optimetry.conformance.selftest.sensitivity import judged
from optimetry.reference.rules import RULES


def items() -> list[Any]:
    return [
        pytest.param(fault, dtype, id=f"{fault.name}-{dtype}") for fault in FAULTS.values() for dtype in fault.dtypes
    ]


@pytest.mark.parametrize(("fault", "dtype"), items())
def test_a_fault_is_convicted(fault: Fault, dtype: str) -> None:
    verdict = judged(fault, dtype)
    assert outcome(verdict) == fault.outcome, verdict.reason
    assert fault.because in verdict.reason
    assert rejected_by(verdict) == (fault.rejected_by or rejected_by(verdict)), verdict.reason


def test_there_are_faults_of_every_rule() -> None:
    assert len(FAULTS) >= 60
    assert {fault.optimizer for fault in FAULTS.values()} == set(RULES)


def test_every_law_and_every_check_of_the_protocol_convicts_a_fault() -> None:
    assert {fault.rejected_by for fault in FAULTS.values()} - {None} == {*LAWS, "oracle", "protocol"}
    told = [fault.because for fault in FAULTS.values() if fault.rejected_by == "protocol"]
    for text in ("start changed", "changed gradient", "returned parameter", "returned NoneType", "raised", "hung"):
        assert any(text in because for because in told)


def test_a_name_belongs_to_one_fault() -> None:
    with pytest.raises(ValueError, match="fault exits is entered twice"):
        enter(FAULTS["exits"])


def test_a_mutation_that_does_not_stand_in_the_rule_once_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'self\.beta1' stands 3 times in the rule"):
        mutant("adam", "self.beta1", "self.beta2")
