"""Tensors of many sizes with each option, and runs of large cases that are resumed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from optimetry.conformance.cases.large import FEW_SIZES, SUMMED, Scale, large_plans, smallest
from optimetry.conformance.cases.options import option_settings
from optimetry.conformance.cases.strategies import CasePlan
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.laws.resumed import resumed_trajectory
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun, run_of
from optimetry.conformance.targets.session import Guard, trajectory
from tests.conformance.judged import without_lines
from tests.conformance.large_cases import BIG, EACH_SIZE, LONG, MANY, case_of, contradicted


@pytest.mark.parametrize(("optimizer", "settings"), [("momentum", 4), ("torch.adam", 6), ("torch.muon", 1), ("sgd", 2)])
def test_many_sizes_are_tried_with_each_option_of_a_sample_of_rules(optimizer: str, settings: int) -> None:
    subject = subject_named(optimizer)
    plans = list(large_plans(subject, "float32", [EACH_SIZE], 0))
    assert len(plans) == settings
    assert len({plan.seed for plan in plans}) == settings
    assert [plan.hyper for plan in plans] == option_settings(subject)[:settings]
    assert plans[0].hyper == subject.declaration.typical().hyper()


def test_where_sums_are_evaluated_whole_tensors_of_many_sizes_are_small() -> None:
    (plan, *_) = large_plans(subject_named("lamb"), "float64", [EACH_SIZE], 0)
    shapes = [tensor.shape for tensor in plan.tensors]
    assert max(map(math.prod, shapes)) == 1539 <= SUMMED
    assert shapes == [shape for shape in FEW_SIZES if math.prod(shape) <= SUMMED]


def test_of_many_sizes_the_smallest_that_fails_alone_is_shrunk() -> None:
    (plan, *_) = large_plans(subject_named("sgd"), "float32", [EACH_SIZE], 0)

    def tall(plan: CasePlan) -> bool:
        return any(len(tensor.shape) == 2 and tensor.shape[0] > 512 for tensor in plan.tensors)

    assert [tensor.shape for tensor in smallest(plan, tall).tensors] == [(513, 3)]
    odd = smallest(plan, lambda plan: any(tensor.shape[0] > 250 and tensor.shape[0] % 8 for tensor in plan.tensors))
    assert [tensor.shape for tensor in odd.tensors] == [(251,)]
    pair = smallest(plan, lambda plan: sum(tensor.shape[0] >= 300 for tensor in plan.tensors) >= 2)
    assert [tensor.shape[0] for tensor in pair.tensors] == [255, 256, 511, 1023]


def test_hyperparameters_that_a_failure_does_not_need_become_the_defaults() -> None:
    defaults = option_settings(subject_named("momentum"))[0]
    (plan,) = (
        plan
        for plan in large_plans(subject_named("momentum"), "float32", [EACH_SIZE], 0)
        if plan.hyper == {"momentum": 0.0, "use_nesterov": True}
    )
    assert smallest(plan, lambda plan: plan.hyper["use_nesterov"], defaults).hyper == {**defaults, "use_nesterov": True}
    assert smallest(plan, lambda plan: True, defaults).hyper == defaults


def test_a_run_is_resumed_behind_so_many_of_its_steps() -> None:
    case = case_of("adam", MANY)
    loads = []

    class Noting(RuleRun):
        def load(self, state: Any) -> None:
            loads.append([int(count) for count in state["step"]])
            super().load(state)

    begin: Any = Noting
    target = Instead(begin, "adam")
    after = resumed_trajectory(Trial(target, case, Guard()), 1)
    assert after is not None
    assert after.tobytes() == trajectory(NumpyTarget(), case, Guard()).tobytes()
    assert loads == [[1] * 70]
    assert resumed_trajectory(Trial(target, case.upto(1), Guard()), 1) is None
    wrapper = case_of("clip_by_norm", MANY)
    assert resumed_trajectory(Trial(NumpyTarget(), wrapper, Guard()), 1) is None


def test_a_long_run_is_resumed_near_its_end() -> None:
    class InEightBits(RuleRun):
        def state(self) -> Any:
            state = super().state()
            return {**state, "step": [count % 256 for count in state["step"]]}

    begin: Any = InEightBits
    reason = contradicted(Instead(begin, "adam"), "adam", LONG)
    assert reason is not None
    assert reason.startswith(
        "as documented in small cases, but not after 295 steps, resumed from its state behind step 295: returned "
    )
    assert contradicted(Instead(begin, "adam"), "adam", MANY) is None


def test_what_cannot_be_saved_is_not_resumed() -> None:
    class Unsaved:
        def __init__(self, run: Any) -> None:
            self.step = run.step

    plain = Instead(lambda rule, parameters: Unsaved(run_of(rule, parameters)), "adam")
    assert resumed_trajectory(Trial(plain, case_of("adam", MANY), Guard()), 1) is None
    assert contradicted(plain, "adam", MANY) is None

    class Unloadable(RuleRun):
        def load(self, state: Any) -> None:
            raise AssertionError("loaded")

    begin: Any = Unloadable
    target = Instead(begin, "adam")
    assert contradicted(target, "adam", Scale(((300_001,),))) is None
    reason = without_lines(contradicted(target, "adam", BIG) or "")
    assert reason == "raised AssertionError: loaded, with a tensor of 65537 elements"
