"""What is new in kind among the rules of the papers: signs, a rectification threshold, a moment of a whole tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget


def case(optimizer: str, hyper: dict[str, Any], *grads: list[float]) -> Case:
    """One tensor of ones, a learning rate of 1/8, and these gradients."""
    rows = [np.array(grad, np.float32) for grad in grads]
    return Case(
        optimizer=optimizer,
        dtype="float32",
        hyper=hyper,
        learning_rates=(0.125,) * len(rows),
        parameters=(np.ones_like(rows[0]),),
        grads=tuple((row,) for row in rows),
    )


@pytest.mark.parametrize(
    ("optimizer", "hyper", "second"),
    [
        ("papers.lion", {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0}, -0.09),
        ("papers.signum", {"beta": 0.9}, -0.9),
    ],
)
def test_either_sign_is_right_where_the_average_is_0_within_its_rounding_error(
    optimizer: str, hyper: dict[str, Any], second: float
) -> None:
    oracle = expected(case(optimizer, hyper, [1.0, 1.0], [second, 2 * second]))
    after = 1 - 0.125 + np.array([[-0.125, 0.125, 0.0], [0.125, 0.125, 0.125]])  # a step of -1, 1 and 0; and of 1
    apart = np.abs(after - oracle.value[1].astype(float)[:, None])
    assert np.all(apart <= oracle.bound[1].astype(float)[:, None])
    assert oracle.bound[1, 0] >= 0.125, "undecided"
    assert oracle.bound[1, 1] < 1e-6, "decided"


def test_the_sign_of_an_average_of_exactly_0_is_0() -> None:
    """No gradient has come yet: there is no rounding error."""
    oracle = expected(case("papers.lion", {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0}, [0.0]))
    assert (oracle.value[0, 0], oracle.bound[0, 0]) == (1, 0)


def test_cases_cross_the_threshold_of_rectification() -> None:
    """Lengths below 4, between the thresholds of the publication and of torch, and above, some within one case."""
    combinations: set[tuple[bool, bool]] = set()
    crossed = 0
    for drawn in drawn_cases(subject_named("papers.radam"), "float32", seed=0, count=80):
        steps, beta2 = np.arange(1, len(drawn.grads) + 1), drawn.hyper["beta2"]
        length = 2 / (1 - beta2) - 1 - 2 * steps * beta2**steps / (1 - beta2**steps)
        combinations |= set(zip((length > 4).tolist(), (length > 5).tolist(), strict=True))
        crossed += bool((length > 4).any() and (length <= 4).any())
    assert combinations == {(False, False), (True, False), (True, True)}
    assert crossed >= 10


def test_each_tensor_has_one_second_moment() -> None:
    rule = {"beta1": 0.5, "beta2": 0.5, "epsilon": 1.0, "weight_decay": 0.0}
    run = NumpyTarget().start("papers.novograd", rule, [np.ones(2, np.float32), np.ones((1, 2), np.float32)])
    run.step([np.array([3, 4], np.float32), np.array([[0, 2]], np.float32)], 1.0)
    assert [moment.tolist() for moment in run.state()["v"]] == [25.0, 4.0]
    run.step([np.array([3, 4], np.float32), None], 1.0)
    assert [moment.tolist() for moment in run.state()["v"]] == [25.0, 4.0]
