"""Laws, each held against targets that keep it and against targets that break one part of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.laws import LAWS, laws_of
from optimetry.conformance.laws.averages import different
from optimetry.conformance.laws.law import Trial, exact_difference, law
from optimetry.conformance.laws.readings import kinds_of
from optimetry.conformance.laws.variations import many, with_options
from optimetry.conformance.naming.families.family import STEP_COUNTS, StepCount
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.oracle.expected import kept_evaluation
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, trajectory
from tests.conformance.judged import IN_TURN, with_hooks


def some_cases(optimizer: str, dtype: str = "float32") -> list[Case]:
    """Cases of some steps and few: laws run a target dozens of times."""
    drawn = drawn_cases(SUBJECTS[optimizer], dtype, seed=0, count=40)
    return [case for case in drawn if 3 <= len(case.grads) <= 8][:6]


@pytest.mark.parametrize(("optimizer", "dtype"), IN_TURN)
def test_the_reference_keeps_every_law_and_is_fed_arrays_of_its_own(optimizer: str, dtype: str) -> None:
    """0-d ones too, C-contiguous, writeable, of the parameter's dtype: in each variation a law makes of a case."""
    target = HoldsInputs()
    for number, case in enumerate(some_cases(optimizer, dtype)[: 2 if dtype == "float32" else 1]):
        laws = [each for each in laws_of(SUBJECTS[optimizer]) if number == 0 or not each.slow]
        assert {each.name: each.broken(Trial(target, case, Guard())) for each in laws} == dict.fromkeys(
            each.name for each in laws
        )
        assert trajectory(target, case, Guard()).shape == (len(case.grads), case.size)
    assert target.wrong == []
    assert target.seen > 100


def broken_by(target: Target, optimizer: str) -> set[str]:
    """The laws that some case shows broken."""
    return {
        each.name
        for case in some_cases(optimizer)
        for each in laws_of(SUBJECTS[optimizer])
        if each.broken(Trial(target, case, Guard())) is not None
    }


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("missing_gradient_is_zero", {"missing_gradient", "missing_gradient_rests"}),
        ("missing_gradient_repeats_the_last", {"missing_gradient", "missing_gradient_rests", "resuming"}),
        ("missing_gradient_resets_state", {"missing_gradient_rests"}),
    ],
)
def test_a_parameter_without_a_gradient_must_keep_its_bits_and_its_state(name: str, broken: set[str]) -> None:
    """Whoever keeps the bits and changes the state shows it in the steps that follow."""
    fault = FAULTS[name]
    assert broken_by(fault.target(), fault.optimizer) == broken


@pytest.mark.parametrize("way", STEP_COUNTS, ids=lambda way: way.name)
def test_another_way_of_counting_breaks_no_universal_law(way: StepCount) -> None:
    target = computing(documented_class("adamax").counting(way))
    assert broken_by(target, "adamax") <= {"missing_gradient_rests"}


class HoldsInputs(NumpyTarget):
    """The reference, which checks every array that it is given, and counts them.

    What is wrong is noted, not raised: a law may take a run that raises for one that is not offered.
    """

    strided = False

    def __init__(self) -> None:
        self.seen = 0
        self.wrong: list[str] = []

    def held(self, arrays: Sequence[Any], dtypes: Sequence[Any]) -> None:
        pairs = [(array, dtype) for array, dtype in zip(arrays, dtypes, strict=True) if array is not None]
        for array, dtype in pairs:
            self.seen += 1
            if type(array) is not np.ndarray or array.dtype != dtype:
                self.wrong.append(f"{type(array)} of {array.dtype}, must be an array of {dtype}")
            elif not (array.flags.c_contiguous and array.flags.writeable and array.flags.owndata):
                self.wrong.append(f"an array of shape {array.shape} with\n{array.flags}")
        if any(np.shares_memory(a, b) for (a, _), (b, _) in combinations(pairs, 2)):
            self.wrong.append("two arrays in one memory")

    def start(self, optimizer: str, hyper: Any, parameters: list[Any]) -> Any:
        return self.watched(super().start(optimizer, hyper, parameters), parameters, ["step"])

    def start_wrapper(self, wrapper: str, hyper: Any, parameters: list[Any]) -> Any:
        run = super().start_wrapper(wrapper, hyper, parameters)
        return self.watched(run, parameters, ["transform", "update"])

    def watched(self, run: Any, parameters: list[Any], methods: list[str]) -> Any:
        dtypes = [param.dtype for param in parameters]
        self.held(parameters, dtypes)
        for name in methods:
            if (plain := getattr(run, name, None)) is not None:
                setattr(run, name, partial(self.fed, plain, dtypes))
        return run

    def fed(self, plain: Any, dtypes: list[Any], arrays: list[Any], *others: Any) -> Any:
        self.held(arrays, dtypes)
        return plain(arrays, *others)


def test_a_law_that_does_not_apply_is_not_broken() -> None:
    (case, *_) = some_cases("clip_by_norm")
    assert LAWS["missing_gradient"].broken(Trial(FAULTS["largest_element"].target(), case, Guard())) is None
    assert LAWS["clipping_twice"] in laws_of(SUBJECTS["clip_by_norm"])
    assert LAWS["clipping_twice"] not in laws_of(SUBJECTS["adam"])


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_universal_laws_come_first(optimizer: str) -> None:
    universal = [each.universal for each in laws_of(SUBJECTS[optimizer])]
    assert universal == sorted(universal, reverse=True)
    assert any(universal)


class Counted(NumpyTarget):
    """The reference, which counts its runs; if it drifts, every run after the first returns something else."""

    def __init__(self, drifts: bool = False) -> None:
        self.runs, self.drifts = 0, drifts

    def start(self, optimizer: str, hyper: Any, parameters: list[Any]) -> Any:
        self.runs += 1
        if self.drifts and self.runs > 1:
            parameters = [parameter + parameter.dtype.type(1) for parameter in parameters]
        return super().start(optimizer, hyper, parameters)


def test_a_run_that_several_laws_ask_for_is_made_once() -> None:
    target, case = Counted(), some_cases("adam")[0]
    equal = case.replace(parameters=tuple(parameter.copy() for parameter in case.parameters))
    trial = Trial(target, case, Guard(), known={})
    first, again = trial.run(), trial.on(equal).run()
    assert target.runs == 1
    assert first.tobytes() == again.tobytes()
    first[...] = 0  # as a law may do
    assert trial.run().tobytes() == again.tobytes()
    other = trial.on(case.replace(learning_rates=tuple(2 * rate for rate in case.learning_rates)))
    assert other.run().tobytes() != again.tobytes()
    assert trial.with_engine(NumpyTarget()).run().tobytes() == again.tobytes()
    assert target.runs == 2
    assert len(trial.ran) == 5


@pytest.mark.parametrize("name", ["adagrad", "rmsprop", "papers.adamw"])
def test_what_laws_ask_of_the_oracle_is_evaluated_once_for_all_targets(name: str) -> None:
    asked, case = [], some_cases(name)[0]
    kept_evaluation.cache_clear()  # of what other tests have asked
    kinds_of.cache_clear()
    for target in (NumpyTarget(), Counted(drifts=True), Counted(drifts=True)):
        before = kept_evaluation.cache_info().misses, kinds_of.cache_info().misses
        for each in laws_of(SUBJECTS[name]):
            each.broken(Trial(target, case, Guard(), known={}))
        asked.append((kept_evaluation.cache_info().misses - before[0], kinds_of.cache_info().misses - before[1]))
    assert asked[1][0] > 0
    assert asked[0][1] > 0
    assert (asked[1][1], asked[2]) == (0, (0, 0))


@pytest.mark.parametrize(("name", "runs"), [("repeatable", 2), ("runs_are_independent", 3)])
def test_a_law_about_repeated_runs_makes_its_own(name: str, runs: int) -> None:
    for drifts in (False, True):
        target = Counted(drifts)
        trial = Trial(target, some_cases("adam")[0], Guard(), known={})
        trial.run()
        target.runs = 0  # count the law's own runs from the first
        assert (LAWS[name].broken(trial) is not None) == drifts
        assert target.runs == runs


def test_many_parameters_are_copies_of_the_smallest_with_gradients_of_their_own() -> None:
    (case, *_) = (case for case in some_cases("adam") if len(case.parameters) > 1)
    some, all_begun = many(case)
    size = min(param.size for param in case.parameters if param.size)
    assert [param.size for param in some.parameters] == [size] * 11
    assert [grad is None for grad in some.grads[0]] == [i % 4 == 0 for i in range(11)]
    assert all(grad is not None for grads in (*some.grads[2:], *all_begun.grads) for grad in grads)
    assert list(many(case.replace(grads=tuple((None,) * len(grads) for grads in case.grads)))) == []


@pytest.mark.parametrize(
    "refused", [(), ("dampening",), ("dampening", "momentum"), ("momentum", "dampening", "nesterov")]
)
def test_as_many_options_are_changed_as_are_taken(refused: Sequence[str]) -> None:
    case = some_cases("torch.sgd")[0].replace(hyper=SUBJECTS["torch.sgd"].declaration.typical().hyper())

    class Picky(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Any, dtype: str) -> str | None:
            return "refused" if any(hyper[name] for name in refused) else None

    changes = {"momentum": 0.5, "dampening": 0.25, "weight_decay": 0.125, "nesterov": True}
    changed = with_options(Trial(Picky(), case, Guard()), changes).case.hyper
    assert changed == {**case.hyper, **{name: x for name, x in changes.items() if name not in refused}}


@pytest.mark.parametrize("form", [(12, 12), (4, 3, 3, 4), (2, 3, 2, 3, 4)])
def test_each_form_of_an_array_is_compared_with_a_vector(form: tuple[int, ...]) -> None:
    target = with_hooks("sgd", gradient=lambda grad: grad * 2 if grad.shape == form else grad)
    case = next(case for case in drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=20) if case.size > 100)
    contradiction = LAWS["reshaping"].broken(Trial(target, case, Guard()))
    assert str(contradiction).startswith(f"of shape {form}: ")
    assert LAWS["reshaping"].broken(Trial(NumpyTarget(), case, Guard())) is None


def test_exact_differences_are_of_numbers_and_nan_equals_nan() -> None:
    """Neither the payload of a NaN nor the sign of a zero is a difference, wherever they stand."""
    nan, other = np.array([0x7FC00000, 0xFFC00001], np.uint32).view(np.float32)
    zeros = np.array([[nan, 0, 1], [nan, 1, 1]], np.float32), np.array([[other, -0.0, 1], [other, 1, 1]], np.float32)
    assert exact_difference(*zeros) is None
    zeros[1][1, 2] = 2
    assert exact_difference(*zeros) == "1.0 against 2.0 at step 2, element 2"
    assert exact_difference(zeros[0], np.ones_like(zeros[0])) == "nan against 1.0 at step 1, element 0"


def test_what_an_average_restores_is_compared_by_its_bits() -> None:
    zero, nan, one = (np.array([x], np.float32) for x in (0.0, np.nan, 1.0))
    assert different([zero, nan], [zero, nan]) is None
    assert different([one, zero], [one, -zero]) == "parameter 1: the sign of a zero, or the bits of a NaN"
    assert different([nan], [-nan]) == "parameter 0: the sign of a zero, or the bits of a NaN"
    pair = np.array([np.nan, 1], np.float32), np.array([np.nan, 2], np.float32)
    assert different(*([array] for array in pair)) == "parameter 0: 1.0 against 2.0 at step 1, element 1"


def test_a_law_is_entered_once() -> None:
    def repeatable(trial: object) -> None:
        """Has the name of another."""

    with pytest.raises(ValueError, match="law repeatable is entered twice"):
        law("two runs differ")(repeatable)
