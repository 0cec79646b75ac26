"""`Optimizer.step` and `Optimizer.clear_grad`, over ``.grad``."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import Linear
from optimetry.reference.rules import rule_named
from tests.reference.first_step import expected
from tests.reference.small import parameter


def test_a_parameter_without_gradient_keeps_value_state_and_count():
    moved, still = parameter("moved"), parameter("still", grad=None)
    adam = ref.Adam(0.1, parameters=[moved, still])
    adam.step()
    adam.step()
    np.testing.assert_array_equal(still.value, np.array([3.0, -4.0], np.float32))
    state = adam.state_dict()
    assert (state["moved_adam_updates"], state["still_adam_updates"]) == (2, 0)
    assert not np.any(state["still_adam_moment1"])


@pytest.mark.parametrize("as_name", [False, True])
def test_minimize_is_a_step_that_leaves_the_no_grad_set(as_name):
    kept, moved = parameter("kept"), parameter("moved")
    sgd = ref.SGD(0.5, parameters=[kept, moved])
    _, pairs = sgd.minimize(Tensor.of(moved), no_grad_set={"kept" if as_name else kept})
    assert [p.name for p, _ in pairs] == ["moved"]
    np.testing.assert_array_equal(kept.value, [3.0, -4.0])
    np.testing.assert_array_equal(moved.value, [2.75, -5.0])


def test_a_frozen_parameter_stays_whatever_its_gradient():
    frozen, free = parameter("frozen", trainable=False), parameter("free")
    sgd = ref.SGD(0.1, parameters=[frozen, free])
    sgd.step()
    np.testing.assert_array_equal(frozen.value, np.array([3.0, -4.0], np.float32), strict=True)
    assert list(sgd.state_dict()) == ["free_sgd_updates"]


def test_clear_grad():
    with_grad, without = parameter("with"), parameter("without", grad=None)
    sgd = ref.SGD(0.1, parameters=[with_grad, without])
    sgd.clear_grad()
    np.testing.assert_array_equal(with_grad.grad, np.zeros(2, np.float32), strict=True)
    assert without.grad is None
    sgd.clear_grad(set_to_zero=False)
    assert with_grad.grad is None
    assert sgd.clear_gradients.__func__ is sgd.clear_grad.__func__


def test_gradients_accumulate_until_they_are_cleared():
    linear = Linear(2, 3)
    for _ in range(2):
        linear(np.ones((1, 2), np.float32)).backward()
    np.testing.assert_array_equal(linear.bias.grad, np.full(3, 2, np.float32), strict=True)


def test_the_base_class_serves_any_rule():
    w = parameter()
    ref.Optimizer(0.1, [w], rule=rule_named("adam").of({"beta1": 0.5})).step()
    want = expected("adam", 0.1, np.array([3.0, -4.0], np.float32), w.grad, beta1=0.5)
    np.testing.assert_array_equal(w.value, want, strict=True)
