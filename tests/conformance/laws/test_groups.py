"""Groups of parameters: each is trained as if it were alone, and torch's Adagrad is known not to do that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.groups import GROUPS
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.limits import hold_limits
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetError


def breaches(target: Target, optimizer: str) -> list[str]:
    """How some cases break the law; empty if none does."""
    drawn = drawn_cases(SUBJECTS[optimizer], "float32", seed=0, count=40)
    cases = [case for case in drawn if len(case.grads) > 2 and reason_unsupported(target, case) is None]
    tried = [LAWS[GROUPS].broken(Trial(target, case, Guard())) for case in cases[:3]]
    assert tried
    return [text for text in tried if text is not None]


def test_a_run_over_groups_takes_options_and_rates_of_each_and_one_that_comes_later() -> None:
    run = NumpyTarget().start_groups("sgd", [({}, [np.array([1.0])]), ({}, [np.array([2.0]), np.array([3.0])])])
    assert np.concatenate(run.step([np.ones(1)] * 3, [0.5, 0.25])).tolist() == [0.5, 1.75, 2.75]
    run.add({}, [np.array([4.0])])
    assert np.concatenate(run.step([np.ones(1)] * 4, [0.5, 0.25, 1.0])).tolist() == [0.0, 1.5, 2.5, 3.0]


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("one_rate_for_all_groups", "the second group, alone and among others: "),
        ("options_of_the_first_group", "the second group, alone and among others: "),
        ("flags_of_the_first_group", "the second group, alone and among others: "),
        ("added_group_takes_the_count", "the added group, alone and among others: "),
        ("added_group_is_not_trained", "the added group, alone and among others: "),
        ("added_group_resets_the_others", "the first group, alone and among others: "),
    ],
)
def test_a_group_that_is_not_trained_as_if_alone_is_named(name: str, beginning: str) -> None:
    fault = FAULTS[name]
    texts = breaches(fault.target(), fault.optimizer)
    assert texts
    assert any(text.startswith(beginning) for text in texts)


def test_options_that_all_groups_have_in_common_are_not_varied() -> None:
    target: Any = FAULTS["options_of_the_first_group"].target()
    options = ["beta1", "beta2", "eps", "weight_decay", "amsgrad", "maximize"]
    for names, rejected in (([], True), (["weight_decay"], True), (options, False)):
        target.shared = {"torch.adamw": names}
        assert bool(breaches(target, "torch.adamw")) is rejected


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        (["adam"], "shared = ['adam'], must be a mapping from optimizers to hyperparameters: {'adam': ['epsilon']}"),
        ({"adam": "epsilon"}, "must be a mapping from optimizers"),
        ({"adm": ()}, "shared: unknown optimizer 'adm', must be one of: adadelta, "),
        ({"adam": ["eps"]}, "shared: adam: unknown hyperparameter 'eps', must be one of: "),
    ],
)
def test_options_in_common_that_mean_nothing_are_refused(shared: Any, expected: str) -> None:
    target: Any = NumpyTarget()
    hold_limits(target, "numpy")
    target.shared = shared
    with pytest.raises(TargetError) as caught:
        hold_limits(target, "numpy")
    assert expected in str(caught.value)


@pytest.mark.parametrize("optimizer", ["torch.adamw", "torch.muon", "papers.lamb", "torch.rprop"])
def test_the_reference_trains_groups_as_if_alone(optimizer: str) -> None:
    assert breaches(NumpyTarget(), optimizer) == []


def test_what_offers_no_groups_is_not_asked_for_them() -> None:
    class Plain(NumpyTarget):
        start_groups = None

    assert breaches(Plain(), "adam") == []


def test_torch_trains_groups_as_if_alone_but_for_what_adagrad_starts_with() -> None:
    torch = load_target("torch")
    assert breaches(torch, "torch.adamw") == []
    assert breaches(torch, "torch.sgd") == []
    assert all("the second group" in text for text in breaches(torch, "torch.adagrad"))
    assert breaches(torch, "torch.adagrad")
