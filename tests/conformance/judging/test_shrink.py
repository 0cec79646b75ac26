"""A failing case becomes small, stays failing, and is not tried more often than the budget says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.shrink import BUDGET, shrunk
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.counterexamples import evidence
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault, TargetHung


def large_case(optimizer: str) -> Case:
    cases = drawn_cases(subject_named(optimizer), "float32", seed=3, count=80)
    return next(case for case in cases if len(case.grads) > 4 and case.size > 50)


@pytest.mark.parametrize("optimizer", ["adam", "lamb", "clip_by_norm", "model_average"])
def test_a_case_becomes_one_element_and_one_step_where_that_is_all_that_fails(optimizer: str) -> None:
    """Of all that is tried none is larger than the case itself."""
    case = large_case(optimizer)
    calls: list[Case] = []

    def fails(smaller: Case) -> bool:
        calls.append(smaller)
        return any(param.size and float(np.abs(param).max()) >= 1 for param in smaller.parameters)

    if not fails(case):
        case = case.replace(parameters=tuple(np.ones_like(param) for param in case.parameters))
    small = shrunk(case, fails)
    assert fails(small)
    assert (len(small.grads), len(small.parameters), small.size) == (1, 1, 1)
    assert all(smaller.size <= case.size and len(smaller.grads) <= len(case.grads) for smaller in calls)


def test_tensors_that_fail_for_being_of_one_shape_become_small_together() -> None:
    """Cut alone, none of them fails any more."""
    tensors = tuple(np.arange(1.0, 68.0).reshape(shape) for shape in ((67,), (67,), (1, 67)))
    case = large_case("momentum").replace(parameters=tensors, grads=(tensors,) * 2, learning_rates=(1.0,) * 2)
    small = shrunk(case, lambda smaller: len({x.shape for x in smaller.parameters}) < len(smaller.parameters))
    assert [param.shape for param in small.parameters] == [(1,), (1,)]


@pytest.mark.parametrize("budget", [0, 1, 7, 50, BUDGET])
def test_no_more_cases_are_tried_than_the_budget_has(budget: int) -> None:
    case, declared = large_case("adam"), SUBJECTS["adam"].hyperparameters()
    for answer in (False, True):
        calls: list[Case] = []
        shrunk(case, lambda smaller: calls.append(smaller) or answer, declared, budget)  # noqa: B023  # called at once
        assert len(calls) <= budget
        assert answer or budget == BUDGET or len(calls) == budget, "as long as there is something left to try"


def test_a_case_that_nothing_smaller_fails_like_is_left_as_it_is() -> None:
    case = large_case("adam")
    assert shrunk(case, lambda smaller: False) is case


def test_hyperparameters_become_plain_where_that_still_fails() -> None:
    case = large_case("adam")
    case = case.replace(hyper={**case.hyper, "beta1": 0.77, "epsilon": 0.0123}, learning_rates=(0.3,) * len(case.grads))
    small = shrunk(case, lambda smaller: smaller.hyper["epsilon"] == 0.0123, SUBJECTS["adam"].hyperparameters())
    assert small.hyper["epsilon"] == 0.0123
    assert small.hyper["beta1"] in (0.9, *SUBJECTS["adam"].hyperparameters()[0].corners)
    assert small.learning_rates[0] in (1.0, 0.5, 0.1)


def test_a_fault_that_only_hangs_in_smaller_cases_is_not_shrunk_into_them() -> None:
    """A hang is never repeated: it costs its whole time limit."""
    case = large_case("sgd").replace(learning_rates=(0.1,) * len(large_case("sgd").grads))
    runs: list[int] = []

    def begin(documented: Any, parameters: list[Any]) -> Any:
        run: Any = run_of(documented, parameters)
        runs.append(sum(array.size for array in parameters))

        def step(grads: list[Any], rate: float) -> Any:
            if runs[-1] < case.size:
                raise TargetHung("hung: one run took longer than 60 s")
            raise TargetFault("raised RuntimeError: out of luck")

        run.step = step
        return run

    shown = evidence.of_fault(Instead(begin), TargetFault("raised RuntimeError: out of luck"), case, Guard())
    assert Case.from_json(shown["case"]).size == case.size
    runs.clear()
    shown = evidence.of_fault(Instead(begin), TargetHung("hung: one run took longer than 60 s"), case, Guard())
    assert (Case.from_json(shown["case"]).to_json(), runs) == (case.to_json(), [])


def test_zeros_alone_are_shown_only_where_zero_is_the_cause() -> None:
    array = np.array([0.0, 1.0], np.float32)
    case = Case("sgd", "float32", {}, (1.0,), (array,), ((array,),))
    anything = shrunk(case, lambda smaller: smaller.size > 0)
    assert (anything.parameters[0].tolist(), anything.grads[0][0].tolist()) == ([1.0], [1.0])  # type: ignore[union-attr]
    zero = shrunk(case, lambda smaller: any((param == 0).any() for param in smaller.parameters))
    assert zero.parameters[0].tolist() == [0.0]
