"""ExponentialMovingAverage and ModelAverage over programs: apply, restore and state."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.reference.averaging.applied import Applied
from optimetry.reference.averaging.exponential import Decayed
from optimetry.reference.averaging.model_average import ModelAverage
from optimetry.reference.programs import Executor, layers
from optimetry.reference.programs.executor import Scope
from tests.reference.averaged import AVERAGES, Trained, moving, trained
from tests.reference.random_programs import same_bits
from tests.reference.rejections import DETERMINISTIC, rejected
from tests.reference.small import fresh


class Stop(Exception):
    """Raised inside ``with``."""


@dataclass(frozen=True)
class Case:
    """Which average, after how many steps, and what is done to it: applications, and how each ends."""

    kind: str
    steps: int
    ends: tuple[str, ...]


ENDS = ("with", "exception", "by hand", "nested")
case_strategy = st.builds(
    Case,
    st.sampled_from(sorted(AVERAGES)),
    st.integers(1, 6),
    st.lists(st.sampled_from(ENDS), min_size=1, max_size=4).map(tuple),
)


def apply_and_restore(change: Callable[[Any], Any], case: Case) -> None:
    """Restored parameters have their old bits, every application gives the same average, and leaves it as it is."""
    subject = trained(lambda: change(AVERAGES[case.kind]()), case.steps)
    before, state = subject.parameters, subject.state()
    applied = []
    for end in case.ends:
        try:
            with subject.average.apply(subject.executor, need_restore=end != "by hand"):
                applied.append(subject.parameters)
                if end == "exception":
                    raise Stop
                if end == "nested":
                    with subject.average.apply(subject.executor):
                        applied.append(subject.parameters)
                    applied.append(subject.parameters)
        except Stop:
            pass
        if end == "by hand":
            assert same_bits(subject.parameters, applied[0])
            with subject.average.apply(subject.executor, need_restore=False):
                applied.append(subject.parameters)
            subject.average.restore(subject.executor)
        assert same_bits(subject.parameters, before)
        assert same_bits(subject.state(), state)
    assert all(same_bits(each, applied[0]) for each in applied)


@DETERMINISTIC
@given(case_strategy)
def test_apply_and_restore(case: Case) -> None:
    apply_and_restore(lambda average: average, case)


def faulty(**methods: Any) -> Callable[[Any], Any]:
    """Gives an average other methods."""

    def change(average: Any) -> Any:
        average.__class__ = type("Faulty", (type(average),), methods)
        return average

    return change


def _corrupting(self: Any) -> list[Any]:
    """Paddle 1.8: ``apply`` leaves the corrected average in place of the average."""
    averages = super(type(self), self)._averages()
    if isinstance(self._state, Decayed):
        self._state = self._state._replace(biased=averages)
    return averages


@contextmanager
def _not_on_exceptions(self: Any, scope: Scope, need_restore: bool) -> Iterator[None]:
    with Applied._inside(self, scope, False):
        yield
    if need_restore:
        scope.values.update(self._originals.pop(scope))


@contextmanager
def _forgetting_the_originals(self: Any, scope: Scope, need_restore: bool) -> Iterator[None]:
    self._originals.pop(scope, None)
    with Applied._inside(self, scope, need_restore):
        yield


@contextmanager
def _never(self: Any, scope: Scope, need_restore: bool) -> Iterator[None]:
    with Applied._inside(self, scope, False):
        yield


@pytest.mark.parametrize(
    "change",
    [
        faulty(_averages=_corrupting),
        faulty(_inside=_not_on_exceptions),
        faulty(_inside=_forgetting_the_originals),
        faulty(_inside=_never),
    ],
    ids=["corrupts the average", "not on exceptions", "forgets the originals", "never restores"],
)
def test_a_faulty_apply_is_rejected(change: Callable[[Any], Any]) -> None:
    assert rejected(apply_and_restore, change, case_strategy)


def test_executors_that_share_a_scope_share_what_is_applied() -> None:
    subject = trained(moving, 3)
    before, other = subject.parameters, Executor()
    other.scope = subject.executor.scope
    for executor in (subject.executor, other):
        with subject.average.apply(executor, need_restore=False):
            pass
    assert not same_bits(subject.parameters, before)
    subject.average.restore(other)
    assert same_bits(subject.parameters, before)


@pytest.mark.parametrize("kind", AVERAGES)
def test_averages_are_of_the_parameters_behind_each_update(kind: str) -> None:
    """The class, over a program, has the bits of the numbers alone, over the list of past parameters."""
    subject = trained(AVERAGES[kind], 0)
    history = []
    for step in range(7):
        subject.run(step)
        history.append(subject.parameters)
    rule = subject.average._rule
    state = rule.start(list(history[0].values()))
    for step, parameters in enumerate(history):
        scheduled = (step,) if kind == "scheduled" else ()
        state = rule.update(state, list(parameters.values()), *scheduled)
    with subject.average.apply(subject.executor):
        assert same_bits(list(subject.parameters.values()), rule.averages(state))


@DETERMINISTIC
@given(st.sampled_from(sorted(AVERAGES)), st.integers(0, 5))
def test_resume_equals_uninterrupted(kind: str, step: int) -> None:
    whole, first, second = trained(AVERAGES[kind], 6), trained(AVERAGES[kind], step), trained(AVERAGES[kind], 0)
    second.executor.scope.values.update(first.executor.scope.values)
    second.executor.runs.update({second.program: step})
    second.average.set_state_dict(first.average.state_dict())
    for number in range(step, 6):
        second.run(number)
    assert same_bits(whole.state(), second.state())


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_low_precision_parameters_are_averaged_in_float32(dtype: Any) -> None:
    with fresh() as (main, startup):
        layers.create_parameter([2], dtype, name="w", initializer=lambda generator, shape: np.ones(shape))
        average = moving(0.999)
    executor = Executor()
    executor.run(startup)
    for _ in range(3):
        executor.run(main)
    assert average.state_dict()["w_biased"].dtype == np.float32
    with average.apply(executor):
        applied = executor.scope.values["w"]
        assert applied.dtype == dtype
        assert applied.tolist() == [1, 1]


def test_the_startup_program_forgets_the_average() -> None:
    subject = trained(moving, 2)
    subject.executor.run(subject.startup)
    assert subject.average.state_dict() == {}


def test_the_methods_of_an_optimizer_leave_the_parameters_alone() -> None:
    with fresh() as (main, startup):
        loss = layers.mean(layers.fc(layers.data("x", [None, 3]), 2))
        operators, params_grads = ModelAverage(0.5, 2, 4).minimize(loss)
    executor = Executor()
    executor.run(startup)
    subject = Trained(main, startup, executor, None)
    before = subject.parameters
    subject.run(0)
    assert same_bits(before, subject.parameters)
    assert len(operators) > len(params_grads) == 2
