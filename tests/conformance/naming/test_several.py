"""Several things beside a rule: each alters what those before it make of it; a schedule is read off a calm run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.adapters import gradients_multiplied
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, joined
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.measured import factors, schedules
from optimetry.conformance.naming.mistakes import Mistake, Mistaken, together
from optimetry.conformance.naming.runs.accumulated import SUM, averaged
from optimetry.conformance.naming.runs.decay import ALONE, COUPLED, DECOUPLED, unasked
from optimetry.conformance.naming.runs.scheduled import (
    LONGER,
    SCHEDULES,
    STEPPED,
    WarmUp,
    behind,
    from_part,
    in_pieces,
    scheduled,
)
from optimetry.conformance.naming.solved import decays, root, short_number
from optimetry.conformance.numerics.agreement import Expected
from tests.conformance.altered import with_mistake

HALVING = scheduled(SCHEDULES[4], 0.5, every_step=False)
"""0.5**(t - 1)."""


def numbers(*values: float) -> tuple[Any]:
    return (np.array(values, np.float32),)


def sgd(*grads: float, start: float = 0.0, rate: float = 1.0) -> Case:
    """Gradient descent of one number."""
    return Case("sgd", "float32", {}, (rate,) * len(grads), numbers(start), tuple(numbers(grad) for grad in grads))


def _wave(half: int, steps: int) -> list[float]:
    return [(1 + np.cos(np.pi * t / half)) / 2 for t in range(steps)]


def measured(*factors: float, error: float = 1e-7) -> Expected:
    return Expected(np.array(factors), np.full(len(factors), error), np.zeros(()))


def words(*factors: float, error: float = 1e-7) -> list[str]:
    """The schedules that give these factors."""
    return [way[0].run["factor"] if way else "" for way in schedules(measured(*factors, error=error))]


def test_mistakes_together_are_recorded_one_behind_the_other() -> None:
    all_three = together([unasked(COUPLED, 0.5), HALVING, HALVING])
    halving = {"finding": "scheduled", "factor": "0.5**(t - 1)"}
    decay = {"finding": "decays", "how": "by 0.5, unasked, as part of the gradient"}
    assert all_three.run == {**decay, "also": [halving, halving]}
    mistaken = Mistaken(Explanation(documented_class("sgd")), all_three)
    assert mistaken.reason == (
        "computes the documented rule, but decays by 0.5, unasked, as part of the gradient; and multiplies the "
        "learning rate by 0.5**(t - 1); and multiplies the learning rate by 0.5**(t - 1)"
    )


def test_mistakes_together_do_what_each_does() -> None:
    """A gradient of 1 and a parameter of 1 that decays by 0.5, then of 1 - 1.5, by half the rate."""
    both = together([unasked(COUPLED, 0.5), HALVING])
    second = -0.5 - 0.5 * (1 + 0.5 * -0.5)
    assert with_mistake(both, sgd(1, 1, start=1))[:, 0].tolist() == [-0.5, second]
    assert with_mistake(together([HALVING]), sgd(1, 1))[:, 0].tolist() == [-1, -1.5]
    assert with_mistake(together([]), sgd(1, 1))[:, 0].tolist() == [-1, -2]


def test_the_later_mistake_changes_what_the_earlier_one_is_given() -> None:
    """A schedule behind a decay by the rate holds for the decay as well; one that does not know the rate stays."""
    case = sgd(0, 0, start=4)
    assert with_mistake(together([unasked(DECOUPLED, 0.5), HALVING]), case)[:, 0].tolist() == [2, 1.5]
    assert with_mistake(together([unasked(ALONE, 0.5), HALVING]), case)[:, 0].tolist() == [2, 1]
    doubled = gradients_multiplied(2.0)
    assert with_mistake(together([unasked(COUPLED, 0.5), doubled]), sgd(1, start=1))[0, 0] == 1 - (2 + 0.5)


def test_what_mistakes_break_is_broken_by_them_together() -> None:
    every = scheduled(SCHEDULES[4], 0.5, every_step=True)
    assert together([HALVING, every]).breaks == (resuming, missing_gradient)


def test_mistakes_that_change_what_is_fed_and_what_is_returned_do_so_in_their_order() -> None:
    def plus(number: float) -> Mistake:
        return Mistake(
            hyper=lambda hyper: {**hyper, "n": number},
            fed=lambda case: case.replace(learning_rates=(case.learning_rates[0] * 10 + number,)),
            returned=lambda case, value: Expected(value.value * 10 + number, value.bound, value.start),
        )

    both = together([plus(1), plus(2)])
    assert both.fed(sgd(0)).learning_rates == (112,)
    assert both.returned(sgd(0), measured(0)).value.tolist() == [12]
    assert both.hyper({}) == {"n": 2}


def test_alterations_join_their_steps_states_and_places() -> None:
    tens = Alteration(step=lambda training, plain, grads, lr: plain([10 * grad for grad in grads], lr))
    added = Alteration(step=lambda training, plain, grads, lr: plain([grad + 1 for grad in grads], lr), by_place=True)
    inner_last = joined(tens, added)
    assert inner_last is not None
    assert inner_last.by_place
    training = cast(AlteredTraining, SimpleNamespace(memory={}))
    assert inner_last.step(training, lambda grads, lr: list(grads), [1], 1.0) == [20]
    assert joined(None, tens) is tens
    assert joined(tens, None) is tens


def test_joined_alterations_remember_for_themselves() -> None:
    """Both count the steps that they see under one name: every second is left out, and every second of the others."""

    def every_second(training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        training.memory["seen"] = training.memory.get("seen", 0) + 1
        return plain(grads, lr) if training.memory["seen"] % 2 else [None]

    half = Alteration(step=every_second)
    both = joined(half, Alteration(step=every_second))
    assert both is not None
    training = cast(AlteredTraining, SimpleNamespace(memory={}))
    steps = [both.step(training, lambda grads, lr: list(grads), [t], 1.0) for t in (1, 2, 3, 4, 5, 6)]
    assert steps == [[1], [None], [None], [None], [5], [None]]
    assert training.memory["seen"] == 6


def test_joined_alterations_keep_an_array_each() -> None:
    """A velocity of a velocity: 1, then 0.5*1 + 1 and 0.5*1 + 1.5."""
    both = together([averaged(SUM, 0.5), averaged(SUM, 0.5)])
    assert with_mistake(both, sgd(-1, -1))[:, 0].tolist() == [1, 3]


def test_factors_are_steps_over_those_of_the_rule() -> None:
    """Of two elements the one with the sharper bound tells."""
    rule = Expected(np.array([[1.0, 1.0], [2.0, 3.0]]), np.array([[0.5, 0.25], [0.5, 0.25]]), np.zeros(2))
    found = factors(rule, np.array([[9.0, 0.5], [9.0, 4.5]], np.float32))
    assert found.value.tolist() == [0.5, 2]
    assert found.bound.tolist() == [0.25, 0.5]  # of the second step, twice the rule's, as of both bounds together


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 1, 1], [""]),
        ([0.5, 0.5, 0.5], ["0.5"]),
        ([0.125, 0.25, 0.375], ["min(1, t/8)"]),
        ([1, 0.5, 0.25], ["0.5**(t - 1)"]),
        ([1, 1, 0.1, 0.1, 0.01], ["0.1**floor((t - 1)/2)"]),
        ([1, 0.1, 0.1, 0.01], ["0.1**floor(t/2)", "1 while t < 2, 0.1 while t < 4, then 0.01"]),
        ([0.1, 0.4, 0.7, 1, 1], ["0.1 + 0.9*min(1, (t - 1)/3)"]),
        ([0.25, 0.25, 1, 1, 1], ["0.25 while t < 3, then 1"]),
        ([0.5, 1, 0.75, 0.5, 0.25, 0], ["t/2 while t <= 2, then max(0, 1 - (t - 2)/4)"]),
        ([0, 0.5, 1, 0.75, 0.5, 0.25, 0], ["(t - 1)/2 while t <= 3, then max(0, 1 - (t - 3)/4)"]),
        ([0.5, 1, 1, 0.5, 0.25], ["t/2 while t <= 2, then 0.5**(t - 3)"]),
        ([0.5, 1, 3**-0.5, 4**-0.5, 5**-0.5], ["t/2 while t <= 2, then t**-0.5"]),
        ([1, 0.75, 0.5, 0.25, 0], ["max(0, 1 - (t - 1)/4)"]),
        ([1, 0.5625, 0.25, 0.0625, 0], ["max(0, 1 - (t - 1)/4)**2"]),
        ([1, 0.82, 0.55, 0.28, 0.1], []),
        ([1, 0.775, 0.55, 0.325, 0.1, 0.1], ["0.1 + 0.9*max(0, 1 - (t - 1)/4)"]),
        ([0.5, 1, 1.5**-0.5, 2**-0.5], ["min(t/2, (t/2)**-0.5)"]),
        ([2**-1.5, 2**-0.5, 3**-0.5, 0.5], ["min(t**-0.5, t*2**-1.5)"]),
        (_wave(8, 12), ["(1 + cos(pi*(t - 1)/8))/2"]),
        ([1, 0.5, 1, 0.5, 1], []),
        ([1, np.pi / 4, 1], []),
        ([np.nan, 1, 1], []),
    ],
)
def test_a_schedule_has_the_factors_that_were_measured(given: list[float], expected: list[str]) -> None:
    assert [found for found in words(*given) if found in expected or not expected] == expected


def test_there_may_be_no_schedule_where_later_steps_differ() -> None:
    assert words(1, 1, 1, np.pi / 4, np.pi / 5) == [""]


def test_factors_that_may_be_anything_show_nothing() -> None:
    assert words(0.5, 0.5, error=0.2) == []


def test_a_schedule_is_measured_for_both_ways_to_count() -> None:
    (way,) = schedules(measured(*[0.5] * 12))
    assert [mistake.run["factor"] for mistake in way] == ["0.5", "0.5, where t counts every step"]


@pytest.mark.parametrize(
    ("schedule", "number", "expected"),
    [
        (from_part(0.25), 0.5, ("0.25 + 0.75*min(1, (t - 1)/2)", [0.25, 0.625, 1, 1])),
        (in_pieces({1: 0.5, 3: 2.0, 4: 1.0}), 0.0, ("0.5 while t < 3, 2 while t < 4, then 1", [0.5, 0.5, 2, 1])),
        (behind(WarmUp(2, 0))[0], 0.5, ("t/2 while t <= 2, then 0.5**(t - 2)", [0.5, 1, 0.5, 0.25])),
        (behind(WarmUp(2, 1))[0], 0.5, ("(t - 1)/2 while t <= 3, then 0.5**(t - 3)", [0, 0.5, 1, 0.5])),
        (behind(WarmUp(2, 0))[-1], 0.5, ("t/2 while t <= 2, then t**-0.5", [0.5, 1, 3**-0.5, 0.5])),
        (LONGER[0], 0.5, ("min(t/2, (t/2)**-0.5)", [0.5, 1, 1.5**-0.5, 2**-0.5])),
        (LONGER[1], 0.5, ("min(t**-0.5, t*2**-1.5)", [2**-1.5, 2**-0.5, 3**-0.5, 0.5])),
        (STEPPED[0], 0.5, ("0.5**floor(t/2)", [1, 0.5, 0.5, 0.25])),
        (STEPPED[1], 0.5, ("0.5**floor((t - 1)/2)", [1, 1, 0.5, 0.5])),
    ],
)
def test_a_schedule_of_several_numbers_does_what_it_says(schedule: Any, number: float, expected: Any) -> None:
    assert schedule.named(number) == expected[0]
    assert [schedule.factor(number, t) for t in (1, 2, 3, 4)] == pytest.approx(expected[1], rel=1e-15)


def test_a_number_of_steps_is_whole_if_it_may_be() -> None:
    """1/30 is 0.0333, and 0.03 is near as well; a rate of 0.3 is that, and no third."""
    assert short_number(0.0333, 0.005, other_than=1.0, steps=True) == 1 / 30
    assert short_number(0.0333, 0.005, other_than=1.0, parts=True) == 0.03
    assert short_number(0.0333333, 1e-6, other_than=1.0, parts=True) == 1 / 30
    assert short_number(0.3, 0.05, other_than=1.0, parts=True) == 0.3
    assert short_number(0.0333333, 1e-6, other_than=1.0) is None


def test_secants_go_on_until_they_stand_still() -> None:
    """A wide bound stops them at no other number than the true one."""
    given = np.array([(1 + np.cos(np.pi * t / 36)) / 2 for t in range(8)])

    def evaluate(x: float) -> Expected:
        return Expected((1 + np.cos(np.pi * x * np.arange(8))) / 2, np.full(8, 1e-3), np.zeros(()))

    near = root(evaluate, 1 / 16, given)
    assert near is not None
    assert near[0] == pytest.approx(1 / 36, rel=1e-4)
    assert near[1] > 1e-4


def test_a_decay_is_solved_for_beside_a_schedule() -> None:
    """Of gradient descent a decay in the gradient and one apart from it are the same."""
    case, explanation = sgd(0.5, 0.25, 1, start=2.0, rate=0.5), Explanation(documented_class("sgd"))
    after = with_mistake(together([unasked(COUPLED, 0.25), HALVING]), case).astype(np.float32)
    found = [decay.run["how"] for (decay,) in decays(explanation, [HALVING], case, after)]
    assert found == [f"by 0.25, unasked, {how}" for how in (COUPLED, DECOUPLED)]
    alone = with_mistake(HALVING, case).astype(np.float32)
    assert list(decays(explanation, [HALVING], case, alone)) == [()]
    assert list(decays(explanation, [HALVING], case, alone + 1)) == [()]
