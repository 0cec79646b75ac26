"""Learning rates: numbers, variables and schedulers."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import layers
from optimetry.reference.programs.program import Operator, default_main_program
from tests.reference.small import FEED, network, parameter, started


class Halving:
    """The least that serves as a scheduler."""

    def __init__(self):
        self.rate = 1.0

    def get_lr(self):
        return self.rate

    def step(self):
        self.rate /= 2


def test_any_object_with_get_lr_and_step_is_a_scheduler():
    w = parameter(value=(0.0, 0.0), grad=(1.0, 1.0), dtype=np.float64)
    scheduler = Halving()
    sgd = ref.SGD(scheduler, parameters=[w])
    for _ in range(3):
        sgd.step()
        scheduler.step()
    np.testing.assert_array_equal(w.value, [-1.75, -1.75])
    assert sgd.get_lr() == sgd.current_step_lr() == 0.125
    assert "global_step" not in sgd.state_dict()


def test_an_automatic_scheduler_is_advanced_by_the_optimizer_also_in_a_program():
    loss = network()
    sgd = ref.SGD(ref.PiecewiseDecay([1], [0.5, 0.25]))
    sgd.minimize(loss)
    executor = started()
    rates = []
    for _ in range(3):
        executor.run(feed=FEED)
        rates.append(sgd.get_lr())
    assert rates == [0.5, 0.25, 0.25]
    assert sgd.state_dict()["global_step"] == 3


def test_a_run_that_fails_leaves_the_learning_rate_as_it_was():
    """Nothing may follow from a rate that was read: neither the scheduler's next step nor what is shown."""
    scheduler = ref.NoamDecay(1.0, 4, automatic=True)
    rate = layers.create_global_var([1], 0.5, "float32", name="rate")
    loss = network()
    scheduled, variable = ref.SGD(scheduler), ref.SGD(rate)
    scheduled.minimize(loss)
    variable.minimize(loss)
    default_main_program().append(Operator("fail", lambda: 1 / 0, (), (loss,), "optimize"))
    executor = started()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            executor.run(feed=FEED)
    assert (scheduler.last_epoch, scheduled.get_lr()) == (0, 0.0)
    with pytest.raises(ArgumentError, match="none has run yet"):
        variable.get_lr()


def test_a_variable_is_the_learning_rate_of_a_program():
    rate = layers.create_global_var([1], 0.5, "float32", name="rate")
    loss = network()
    _, pairs = ref.SGD(rate).minimize(loss)
    executor = started()
    for lr in (0.5, 0.125):
        executor.scope.values["rate"] = np.array([lr], np.float32)
        before = executor.scope.get("a.b_0")
        (grad,) = executor.run(feed=FEED, fetch_list=[pairs[1][1]])
        np.testing.assert_array_equal(executor.scope.get("a.b_0"), before - np.float32(lr) * grad, strict=True)


def test_an_eager_learning_rate_that_is_not_finite_is_refused():
    rate, w = parameter("rate", [0.5]), parameter()
    adam = ref.Adam(rate, parameters=[w])
    rate.value = np.array([np.nan], np.float32)
    with pytest.raises(ArgumentError, match="adam: learning_rate = nan, must be a finite number"):
        adam.step()
    np.testing.assert_array_equal(w.value, [3.0, -4.0])
    assert adam.state_dict() == {}


@pytest.mark.parametrize(
    ("scheduler", "rates"),
    [
        (ref.StepDecay(1.0, 2, 0.5), [1.0, 1.0, 0.5, 0.5, 0.25]),
        (ref.MultiStepDecay(1.0, [1, 3], 0.5), [1.0, 0.5, 0.5, 0.25, 0.25]),
        (ref.PiecewiseDecay([1, 3], [3.0, 2.0, 1.0]), [3.0, 2.0, 2.0, 1.0, 1.0]),
        (ref.PiecewiseDecay([1, 3], [3.0, 2.0, 1.0], 2), [2.0, 1.0, 1.0, 1.0, 1.0]),
        (ref.NoamDecay(0.25, 4, 2.0), [0.0, 0.5, 1.0, 1.5, 2.0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_schedules(scheduler, rates):
    measured = []
    for _ in rates:
        measured.append(scheduler.get_lr())
        scheduler.step()
    assert measured == rates


def test_noam_decay_falls_with_the_root_after_the_warmup():
    scheduler = ref.NoamDecay(1.0, 4, begin=16)
    assert scheduler.get_lr() == 0.25
