"""What may become of a weight decay, and of counts: each hypothesis does what its words say, worked by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.partial_explanations import decay_found
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import decay, mistakes_of_runs
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.precision import working
from optimetry.reports.parts import RUN

SGD = {"momentum": 0.0, "dampening": 0.0, "weight_decay": 0.5, "nesterov": False, "maximize": False}
RATES = (0.25, 0.125)


def scalar(number: float) -> Array:
    return np.array([number], np.float32)


CASE = Case(
    "torch.sgd",
    "float32",
    SGD,
    RATES,
    (scalar(2.0), scalar(4.0)),
    ((scalar(1.0), scalar(3.0)), (scalar(2.0), scalar(1.0))),
)


def after(words: str, case: Case = CASE) -> list[list[float]]:
    """The parameters after each step of the hypothesis with these words."""
    subject = subject_named(case.optimizer)
    every = [
        *decay.placed_otherwise(subject),
        *(each for tier in mistakes_of_runs(subject, case.dtype) for each in tier),
    ]
    (mistake,) = (each for each in every if RUN[each.run["finding"]].format(**each.run) == words)
    value: Any = Mistaken(Explanation(documented_class(case.optimizer)), mistake).expected(case).value
    return [[float(x) for x in row] for row in value]


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (f"decays {decay.COUPLED}", [1.5, 2.75], None),
        (f"decays {decay.DECOUPLED}", [1.5, 2.75], None),
        (f"decays {decay.ALONE}", [0.75, 1.25], None),
        (f"decays {decay.BEHIND}", [1.75 * 0.875, 3.25 * 0.875], None),
        (f"decays {decay.BEHIND_ALONE}", [0.875, 1.625], None),
        (
            "decays the gradient before in place of the parameter",
            [1.75, 3.25],
            [1.75 - 0.125 * 2.5, 3.25 - 0.125 * 2.5],
        ),
        ("decays the parameter's position in the list, from 1, in its place", [1.625, 3.0], None),
        ("decays the last of several parameters alone", [1.75, 2.75], None),
        (
            "decays by the learning rate of the first step",
            [1.5, 2.75],
            [1.5 * (1 - 0.125) - 0.25, 2.75 * (1 - 0.125) - 0.125],
        ),
        (
            "decays by this learning rate, and steps by that of the first step",
            [1.5, 2.75],
            [1.5 * (1 - 0.0625) - 0.5, 2.75 * (1 - 0.0625) - 0.25],
        ),
    ],
)
def test_a_decay_is_where_the_words_say(words: str, first: Sequence[float], second: Sequence[float] | None) -> None:
    parameters = after(words)
    assert parameters[0] == first
    assert second is None or parameters[1] == second


def test_a_decay_in_the_gradient_turns_with_it() -> None:
    case = CASE.replace(hyper={**SGD, "maximize": True})
    assert after(f"decays {decay.COUPLED}", case)[0] == [2.0 + 0.25 - 0.25, 4.0 + 0.75 - 0.5]


def test_a_rule_without_a_decay_has_none_elsewhere() -> None:
    assert not list(decay.placed_otherwise(subject_named("adam")))
    assert not list(decay.mistakes(subject_named("l2_decay"), "float32"))


def decayed_behind_in_float32(documented: Any, parameters: list[Array]) -> Any:
    """SGD that decays behind its step, by the learning rate in float32."""
    run: Any = run_of(dataclasses.replace(documented, weight_decay=0.0), parameters)
    plain, weight = run.step, documented.weight_decay

    def step(grads: list[Array | None], rate: float) -> list[Array]:
        after = [
            param if grad is None else param * (1 - float(np.float32(rate)) * weight)
            for param, grad in zip(plain(grads, rate), grads, strict=True)
        ]
        run.training.parameters[:] = map(working, after)
        return after

    run.step = step
    return run


def test_a_decay_is_found_where_a_number_is_held_in_float32() -> None:
    """No bound of full precision contains what such a target does."""

    def cases() -> Iterator[Case]:
        return drawn_cases(subject_named("torch.sgd"), "float64", seed=0, count=12)

    target = Instead(decayed_behind_in_float32, "torch.sgd")
    found = decay_found(Observed.of(target, "torch.sgd", "float64", cases, Guard()))
    assert found is not None
    mistaken, _ = found
    assert RUN["decays"].format(**mistaken.mistake.run) == f"decays {decay.BEHIND}"
    assert "learning_rate" in mistaken.explanation.arithmetic.float32_in_some_uses


def test_counts_are_taken_from_the_last_parameter_or_shared_out() -> None:
    hyper = {"lr_decay": 1.0, "weight_decay": 0.0, "initial_accumulator_value": 0.0, "eps": 0.0, "maximize": False}
    grads = ((scalar(1.0), scalar(1.0)), (scalar(1.0), None), (scalar(1.0), scalar(1.0)))
    case = dataclasses.replace(CASE, optimizer="torch.adagrad", hyper=hyper, learning_rates=(1.0,) * 3, grads=grads)
    root = np.sqrt
    of_the_last = after("counts for all what the last parameter with a gradient has counted", case)
    # The first counts 1 as the last does, then its own second step is its first, then the last's second.
    np.testing.assert_allclose(
        [row[0] for row in of_the_last], [1.0, 1 - 1 / root(2), 1 - 1 / root(2) - 1 / root(3) / 2]
    )
    shared_out = after("counts every 2 updates as one", case)
    np.testing.assert_allclose(
        [row[0] for row in shared_out], [1.0, 1 - 1 / root(2), 1 - 1 / root(2) - 1 / root(3) / 2]
    )
