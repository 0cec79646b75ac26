"""Runs that a program plays ahead, and steps that it takes in one message: each has the outcome it has alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.targets.program import KEPT, ProgramTarget
from optimetry.conformance.targets.session import ALONE, MOST, Guard, in_turn, run_ahead, runs_ahead, trajectory
from optimetry.reference.errors import TargetEnded, TargetFault, TargetHung
from tests.conformance.breaks_on_a_case import BAD

LIAR = (sys.executable, "-S", str(Path(__file__).parents[1] / "lying_harness.py"))

BEGINNINGS = (1.0, 2.0, BAD, 3.0)


def case(begin: float) -> Case:
    parameters = (np.array([begin, 1.0]), np.array(5.0))
    return Case("sgd", "float64", {}, (0.5, 0.25), parameters, ((np.array([2.0, 4.0]), np.array(1.0)),) * 2)


def started(name: str, seconds: float = 30.0) -> ProgramTarget:
    return ProgramTarget.started(
        ProtocolProgram(python_command(None, f"tests.conformance.breaks_on_a_case:{name}")), Guard(seconds)
    )


@pytest.fixture
def ended() -> Iterator[list[ProgramTarget]]:
    targets: list[ProgramTarget] = []
    yield targets
    for target in targets:
        target.connection.program.end()


@pytest.mark.parametrize(
    ("name", "fault", "message"),
    [
        ("Ends", TargetEnded, "its process ended with exit status 7"),
        ("Hangs", TargetHung, "hung: one run took longer than 1 s"),
        ("Raises", TargetFault, "raised ArithmeticError: brittle"),
        ("Refuses", TargetFault, "raised SystemExit: not this one"),
    ],
)
def test_the_run_that_breaks_a_block_is_the_one_with_a_fault(
    name: str, fault: type[TargetFault], message: str, ended: list[ProgramTarget]
) -> None:
    target = started(name, 1.0)
    ended.append(target)
    cases = [case(begin) for begin in BEGINNINGS]
    run_ahead(target, cases)
    for each, begin in zip(cases, BEGINNINGS, strict=True):
        assert target.declines(each) is None
        if begin == BAD:
            with pytest.raises(fault, match=message):
                trajectory(target, each, target.connection.guard)
        else:
            after = trajectory(target, each, target.connection.guard)
            assert after.tolist() == [[begin - 1, -1, 4.5], [begin - 1.5, -2, 4.25]]


def test_runs_are_played_ahead_in_one_message(ended: list[ProgramTarget]) -> None:
    target = started("Ends")
    ended.append(target)
    asked = []
    plain = target.connection.program.ask

    def ask(do: str, *more: object) -> object:
        asked.append(do)
        return plain(do, *more)  # type: ignore[arg-type]

    target.connection.program.ask = ask  # type: ignore[assignment,method-assign]
    cases = [case(float(begin)) for begin in range(3 * ALONE)]
    for each in runs_ahead(cases, lambda: [target]):
        assert target.declines(each) is None
        trajectory(target, each, target.connection.guard)
    assert asked == ["run_packed"] * ALONE + ["several"] * 2
    assert not target._answered, "each answer is given once"
    run_ahead(target, [case(float(begin)) for begin in range(2 * KEPT)])
    assert len(target._answered) == KEPT, "memory does not grow with the number of cases"


def test_as_many_cases_are_yielded_and_no_more_played_than_were_before() -> None:
    blocks: list[int] = []

    class Ahead:
        name, version = "noted", "1"

        def start(self, optimizer: str, hyper: Any, parameters: Any) -> Any: ...

        def run_ahead(self, cases: Sequence[Case]) -> None:
            blocks.append(len(cases))

    cases = [case(float(begin)) for begin in range(100)]
    assert list(runs_ahead(cases, lambda: [Ahead()])) == cases  # type: ignore[list-item]
    assert blocks[:4] == [4, 8, 16, MOST]
    assert sum(blocks) == 100 - ALONE

    blocks.clear()
    assert list(runs_ahead(cases, lambda: [Ahead()], known=cases[ALONE + 1 :: 2])) == cases  # type: ignore[list-item]
    assert blocks[:3] == [2, 4, 8], "what is known is not asked for"


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("stateful, leaves an answer out", "answered `several` with 1 answers, must be 2"),
        ("stateful, answers in another order", "answered `step` of run 1 with run = 2"),
        ("stateful, fails among several", "out of luck"),
    ],
)
def test_a_lie_about_several_steps_is_a_fault(lie: str, message: str, ended: list[ProgramTarget]) -> None:
    target = ProgramTarget.started(ProtocolProgram([*LIAR, lie]), Guard(30.0))
    ended.append(target)
    parameters = [np.array([1.0, 2.0])]
    first, second = (target.start("sgd", {}, parameters) for _ in range(2))
    calls = [partial(run.step, [np.array([2.0, 2.0])], 0.5) for run in (first, second)]
    with pytest.raises(TargetFault, match=message):
        list(in_turn(target, calls))


def test_the_steps_of_an_honest_program_are_those_of_each_run(ended: list[ProgramTarget]) -> None:
    target = ProgramTarget.started(ProtocolProgram([*LIAR, "stateful"]), Guard(30.0))
    ended.append(target)
    first, second = (target.start("sgd", {}, [np.array([begin, 2.0])]) for begin in (1.0, 5.0))
    calls = [partial(run.step, [np.array([2.0, 2.0])], 0.5) for _ in range(2) for run in (first, second)]
    returned = [after.tolist() for (after,) in in_turn(target, calls)]
    assert returned == [[0.0, 1.0], [4.0, 1.0], [-1.0, 0.0], [3.0, 0.0]]
