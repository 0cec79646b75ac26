"""A target that is a program is judged as it is beside the judge: the same verdicts, to the last word."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reports.results import Verdict
from tests.conformance.faulty_program import JUDGED, Faulty

FEW = Effort("few", 12, 2)


@pytest.fixture(scope="module")
def faulty() -> Iterator[dict[str, ProgramTarget]]:
    program = ProtocolProgram(python_command(None, "tests.conformance.faulty_program:Faulty"))
    target = ProgramTarget.started(program, Guard())
    yield {engine.engine: engine for engine in target.engines()}
    program.close()


def comparable(verdict: Verdict) -> Verdict:
    """The verdict without the output of the target's process."""
    shown = verdict.counterexample and {k: v for k, v in verdict.counterexample.items() if k != "output"}
    return dataclasses.replace(verdict, counterexample=shown)


@pytest.mark.parametrize("name", JUDGED)
def test_a_fault_has_the_same_verdict_in_a_process_of_its_own(name: str, faulty: dict[str, ProgramTarget]) -> None:
    fault = FAULTS[name]
    guard = Guard(fault.time_limit)
    faulty[name].connection.guard = guard
    (beside,) = (engine for engine in Faulty().engines() if engine.engine == name)
    verdicts = [
        judge([target], fault.optimizer, fault.dtypes[0], effort=FEW, seed=0, guard=guard)
        for target in (faulty[name], beside)
    ]
    (apart,), (here,) = verdicts
    assert here.verdict == ("error" if fault.rejected_by == "protocol" else here.verdict)
    assert comparable(apart) == comparable(here)


@pytest.fixture(scope="module")
def numpy() -> Iterator[ProgramTarget]:
    program = ProtocolProgram(python_command(None, "numpy"))
    yield ProgramTarget.started(program, Guard())
    program.close()


@pytest.mark.parametrize(
    ("optimizer", "dtype"),
    [
        ("adam", "float32"),
        ("momentum", "bfloat16"),
        ("clip_by_norm", "float16"),
        ("exponential_moving_average", "float32"),
    ],
)
def test_a_sample_of_the_reference_has_the_same_verdict(optimizer: str, dtype: str, numpy: ProgramTarget) -> None:
    targets = [numpy, NumpyTarget()]
    apart, here = (judge([target], optimizer, dtype, effort=FEW, seed=0)[0] for target in targets)
    assert here.verdict == "conforms"
    assert apart == here


def test_runs_that_are_ended_are_forgotten(numpy: ProgramTarget) -> None:
    """The program is told with the next run; until then it holds what is under way."""
    finished = numpy.connection.finished
    run = numpy.start("sgd", {}, [])
    assert finished == []
    del run
    assert len(finished) == 1
    numpy.start("sgd", {}, [])
    assert len(finished) == 1, "the first is told, the second is new"


def test_a_diagnosis_is_the_same() -> None:
    """It compares slots step by step, for which runs are fed step by step."""
    program = ProtocolProgram(python_command(None, "tests.conformance.hostile:Honest"))
    try:
        targets = [ProgramTarget.started(program, Guard()), NumpyTarget()]
        diagnoses = [diagnose([target], "sgd", "float32", effort=FEW, seed=0) for target in targets]
        assert [each.verdict.verdict for (each,) in diagnoses] == ["conforms", "conforms"]
    finally:
        program.close()


def test_the_target_of_the_tests_needs_no_optimetry() -> None:
    text = (Path(__file__).parents[1] / "hostile.py").read_text(encoding="utf-8")
    assert "optimetry." not in text
    assert sys.modules.get("hostile") is None
