"""A run of a target: what it is fed, what it may not do with it, and what it leaves behind."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, Session, hold_contents, trajectory, watched
from optimetry.reference.errors import TargetFault, TargetHung
from tests.conformance.deeds import SGD, doing
from tests.conformance.judged import verdict_of, without_lines

CLIP = SGD.replace(optimizer="clip_by_value", hyper={"max": 1.0, "min": -1.0})
AVERAGE = SGD.replace(optimizer="exponential_moving_average", hyper={"decay": 0.9, "scheduled": False})

ALL_CASES = pytest.mark.parametrize("case", [SGD, CLIP, AVERAGE], ids=lambda case: case.optimizer)


class KeepsTheBuffer:
    """Adds the gradient of the step before, of which it has kept the array."""

    def __init__(self, documented: Any, parameters: list[Array]) -> None:
        self.parameters, self.kept = [param.copy() for param in parameters], None

    def step(self, grads: list[Any], rate: float) -> list[Array]:
        for i, grad in enumerate(self.kept or grads):
            if grad is not None:
                self.parameters[i] = np.asarray(self.parameters[i] - grad.dtype.type(rate) * grad)
        self.kept = grads
        return [param.copy() for param in self.parameters]


def test_a_kept_gradient_buffer_is_an_error_that_names_the_gradient() -> None:
    message = "keeps the array of gradient 0 instead of its contents, where the next step's gradient is written"
    with pytest.raises(TargetFault, match=message):
        hold_contents(Instead(KeepsTheBuffer), SGD, Guard())
    verdict = verdict_of(Instead(KeepsTheBuffer), "sgd")
    assert (verdict.verdict, verdict.law) == ("error", None)
    assert "instead of its contents" in verdict.reason


def test_the_one_gradient_that_is_kept_is_named() -> None:
    class KeepsTheSecond(KeepsTheBuffer):
        def step(self, grads: list[Any], rate: float) -> list[Array]:
            return super().step([grads[0].copy(), grads[1]], rate)

    with pytest.raises(TargetFault, match="keeps the array of gradient 1 instead"):
        hold_contents(Instead(KeepsTheSecond), SGD, Guard())


@ALL_CASES
def test_who_copies_or_gives_something_else_each_time_is_not_said_to_keep_a_buffer(case: Case) -> None:
    rng = np.random.default_rng(0)
    hold_contents(NumpyTarget(), case, Guard())
    hold_contents(doing(lambda grads: [np.asarray(rng.normal(size=x.shape), x.dtype) for x in grads]), case, Guard())


@ALL_CASES
def test_a_gradient_comes_in_one_writeable_array_for_the_whole_run_unless_it_is_to_be_fresh(case: Case) -> None:
    seen: list[list[Any]] = []
    target = doing(lambda grads: seen.append(list(grads)))
    trajectory(target, case, Guard(), fresh=[1])
    assert len({id(grads[0]) for grads in seen}) == 1
    assert len({id(grads[1]) for grads in seen}) == len(case.grads)
    for grads in seen:
        assert all(isinstance(x, np.ndarray) and x.flags.owndata and x.flags.writeable for x in grads)
    assert [x.shape for x in seen[0]] == [(1,), ()]


def spoil(grads: list[Any]) -> None:
    grads[1][...] = 7


@ALL_CASES
def test_a_target_that_changes_what_it_is_fed_is_told_which_step_and_input(case: Case) -> None:
    with pytest.raises(TargetFault, match="step 1 changed gradient 1, an input"):
        trajectory(doing(spoil), case, Guard())


def test_a_zero_that_loses_its_sign_is_a_changed_input() -> None:
    """Inputs are compared by their bits: -0.0 is not 0.0, and a NaN has a payload."""
    zeros = SGD.replace(grads=((np.array([-0.0], np.float32), np.array(1, np.float32)),) * 3)
    with pytest.raises(TargetFault, match="step 1 changed gradient 0"):
        trajectory(doing(lambda grads: grads[0].__iadd__(0) and None), zeros, Guard())
    nan = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert same_bits(nan, nan.copy())
    assert not same_bits(nan, np.array([np.nan], np.float32))
    assert not same_bits(np.zeros(1), -np.zeros(1))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda grads: tuple(grads[:1]), "step 1 returned 1 parameters, must be 2"),
        (lambda grads: {"params": grads}, "step 1 returned dict, must be a list of parameters"),
        (lambda grads: [grads[0], 1.5], r"parameter 1 as a float, no array, must be float32 of shape \(\)"),
        (
            lambda grads: [grads[0], grads[1].astype(np.float64)[()]],
            r"parameter 1 as float64 of shape \(\), must be float32",
        ),
        (lambda grads: [grads[0].astype(np.float64), grads[1]], r"as float64 of shape \(1,\), must be float32"),
        (lambda grads: [grads[0].reshape(1, 1), grads[1]], r"as float32 of shape \(1, 1\), must be float32 of shape"),
    ],
)
def test_what_a_step_must_return_is_said_with_what_it_returned(returned: Any, message: str) -> None:
    for case in (SGD, CLIP):
        with pytest.raises(TargetFault, match=message):
            trajectory(doing(returned), case, Guard())


class Scalars:
    """Momentum as its formula is written in NumPy, whose arithmetic gives scalars for 0-d arrays."""

    def __init__(self, hyper: Any, parameters: list[Any]) -> None:
        self.momentum, self.parameters = hyper["momentum"], [param + 0 for param in parameters]
        self.velocities = [0 * param for param in parameters]

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        for i, grad in enumerate(grads):
            if grad is not None:
                with np.errstate(all="ignore"):
                    self.velocities[i] = self.momentum * self.velocities[i] + grad
                    self.parameters[i] = self.parameters[i] - learning_rate * self.velocities[i]
        return self.parameters

    def state(self) -> dict[str, list[Any]]:
        return {"velocity": self.velocities}

    def load(self, state: dict[str, list[Any]]) -> None:
        self.velocities = state["velocity"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_scalar_of_numpy_is_a_0d_array(dtype: str) -> None:
    run = Scalars({"momentum": 0.9}, [np.ones((), dtype)])
    assert isinstance(run.step([np.ones((), dtype)], 0.1)[0], np.generic)
    target: Any = Instead(lambda documented, parameters: Scalars(documented.hyper(), parameters))
    target.pinned = {"momentum": {"use_nesterov": False}}
    verdict = verdict_of(target, "momentum", dtype)
    assert (verdict.verdict, verdict.reason) == ("conforms", "")


def test_a_run_that_takes_too_long_is_interrupted() -> None:
    def forever(grads: list[Any]) -> None:
        while True:
            pass

    with pytest.raises(TargetHung, match=r"^hung: one run took longer than 0.05 s$"):
        trajectory(doing(forever), SGD, Guard(0.05))


def test_every_run_has_a_heartbeat() -> None:
    beats: list[int] = []
    guard = Guard(heartbeat=lambda: beats.append(1))
    trajectory(NumpyTarget(), SGD, guard)
    assert len(beats) == 1
    hold_contents(NumpyTarget(), SGD, guard)
    assert len(beats) == 3


def test_a_session_that_fails_says_the_kind_of_error_in_one_line() -> None:
    with pytest.raises(TargetFault, match=r"^raised ValueError: two lines \(test_session\.py:\d+\)$"), watched(Guard()):
        raise ValueError("two\nlines")
    with pytest.raises(TargetFault, match=r"^raised SystemExit \("), watched(Guard()):
        raise SystemExit


def test_of_the_lines_that_raised_the_innermost_that_is_not_installed_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import json\n\ndef read(text):\n    return json.loads(text)\n")
    mine: Any = runpy.run_path(str(tmp_path / "mine.py"))
    with pytest.raises(TargetFault, match=r"^raised JSONDecodeError: .* \(mine\.py:4\)$"), watched(Guard()):
        mine["read"]("{")
    with pytest.raises(TargetFault, match=r"^raised Hyper.*Error: .* \(test_session\.py:\d+\)$"), watched(Guard()):
        subject_named("adam").of({"beta1": 2.0})


@ALL_CASES
def test_a_session_gives_what_the_documented_formula_gives(case: Case) -> None:
    session = Session(NumpyTarget(), case)
    after = np.stack([np.concatenate([x.reshape(-1) for x in session.step(*fed)]) for fed in case.steps])
    assert compare(after, expected(case), case.form).share <= 1
    assert after.tobytes() == trajectory(NumpyTarget(), case, Guard()).tobytes()


@pytest.mark.parametrize(
    ("first", "ending"),
    [
        (lambda grad: None, "text, in a step in which a gradient is missing (None)"),
        (lambda grad: np.full_like(grad, np.nan), "text, in a step with NaN or infinities in a gradient"),
        (lambda grad: np.full_like(grad, np.inf), "text, in a step with NaN or infinities in a gradient"),
        (np.zeros_like, "text, in a step in which every gradient is 0"),
        (np.ones_like, "text"),
    ],
)
def test_a_step_that_raises_says_what_few_steps_have(first: Any, ending: str) -> None:
    class Raises:
        def __init__(self, documented: Any, parameters: list[Array]) -> None:
            self.parameters = parameters

        def step(self, grads: list[Any], rate: float) -> list[Array]:
            raise TypeError("text")

    grads = tuple((first(row[0]), *map(np.zeros_like, row[1:])) for row in SGD.grads)
    with pytest.raises(TargetFault) as caught:
        trajectory(Instead(Raises), SGD.replace(grads=grads), Guard())
    assert without_lines(str(caught.value)) == f"raised TypeError: {ending}"
