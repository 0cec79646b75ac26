"""What users ran into: each of these failed, silently or with a raw error, before it was fixed."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry import fluid
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import Executor, layers
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import Linear
from optimetry.reference.programs.program import default_main_program, default_startup_program
from tests.reference.first_step import values
from tests.reference.small import FEED, ONES, moved, network, parameter, small_program, started

# learning rates


def test_set_lr_after_minimize_with_a_variable():
    rate = layers.create_global_var([1], 0.5, "float32")
    loss = network()
    sgd = ref.SGD(rate)
    _, pairs = sgd.minimize(loss)
    executor = started()
    (grad,) = executor.run(feed=FEED, fetch_list=[pairs[1][1]])
    sgd.set_lr(0.0)
    np.testing.assert_array_equal(moved(executor, "a.b_0"), np.zeros_like(grad))
    assert sgd.get_lr() == 0.0
    sgd.set_lr_scheduler(ref.StepDecay(0.25, 1, 0.0))
    executor.run(feed=FEED)
    assert sgd.get_lr() == 0.25


def test_set_lr_to_a_variable_of_the_program():
    loss = network()
    rate = layers.create_global_var([1], 0.0, "float32", name="rate")
    sgd = ref.SGD(0.5)
    sgd.minimize(loss)
    executor = started()
    assert np.any(moved(executor, "a.b_0"))
    sgd.set_lr(rate)
    assert not np.any(moved(executor, "a.b_0"))
    executor.scope.values["rate"] = np.array([0.5], np.float32)
    assert np.any(moved(executor, "a.b_0"))
    assert sgd.get_lr() == 0.5


def test_a_variable_in_an_eager_constructor():
    w = parameter()
    sgd = ref.SGD(Tensor.of(np.array([0.5], np.float32)), parameters=[w])
    sgd.step()
    np.testing.assert_array_equal(w.value, [2.75, -5.0])
    sgd.set_lr(layers.create_global_var([1], 0.5, "float32", name="rate"))
    with pytest.raises(ArgumentError, match=r"sgd: learning_rate = Variable\('rate'.*an eager step needs a number"):
        sgd.step()


def test_a_negative_learning_rate_climbs():
    w = parameter()
    ref.SGD(-0.5, parameters=[w]).step()
    np.testing.assert_array_equal(w.value, [3.25, -3.0])


def test_noam_decay_of_page_004_advances_by_itself():
    """Step s has the rate d^-1/2 min(s^-1/2, s w^-3/2), from s = 1."""
    with fluid.dygraph.guard():
        linear = Linear(3, 3)
        sgd = fluid.optimizer.SGD(fluid.layers.noam_decay(0.25, 4), parameter_list=linear.parameters())
        rates, before = [], np.array(linear.weight.value)
        for _ in range(5):
            loss = fluid.layers.reduce_mean(linear(ONES))
            loss.backward()
            sgd.minimize(loss)
            rates.append(sgd.current_step_lr())
    assert rates == [0.25, 0.5, 0.75, 1.0, 2 * 5**-0.5]
    assert np.all(linear.weight.value != before)


def test_noam_decay_in_a_program_and_its_counter_begin_anew_at_startup():
    loss = network()
    counter = layers.decay_step_counter(1)
    rate = fluid.layers.noam_decay(0.25, 4)
    ref.SGD(rate).minimize(loss)
    executor = Executor()
    for _ in range(2):
        executor.run(default_startup_program())
        runs = [executor.run(feed=FEED, fetch_list=[counter, rate]) for _ in range(3)]
        assert [(int(count[0]), float(lr[0])) for count, lr in runs] == [(1, 0.25), (2, 0.5), (3, 0.75)]


# fetching what minimize returned


def test_what_minimize_returned_can_be_fetched_and_prunes():
    x, y = layers.data("x", [None, 3]), layers.data("y", [None, 3])
    first, second = layers.mean(layers.fc(x, 2, name="a")), layers.mean(layers.fc(y, 2, name="b"))
    result, _ = ref.SGD(0.5).minimize(first), ref.SGD(0.5).minimize(second)
    executor = started()
    before = values(executor, default_main_program())
    fetched = executor.run(feed=FEED, fetch_list=[first, result])  # nothing is fed for y
    after = values(executor, default_main_program())
    assert [value.shape for value in fetched] == [()]
    assert [name for name in before if np.any(before[name] != after[name])] == ["a.w_0", "a.b_0"]


def test_only_the_fetched_updates_run_though_another_writes_what_they_read():
    loss = network()
    frozen = ref.SGD(0.5)
    frozen.minimize(loss, parameter_list=["a.b_0"])
    result = ref.SGD(0.5).minimize(loss, parameter_list=["b.w_0"])
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed=FEED, fetch_list=[result])
    after = values(executor, default_main_program())
    assert [name for name in before if np.any(before[name] != after[name])] == ["b.w_0"]


def test_what_is_fed_is_not_computed():
    """Pruned "by feed and fetch_list": with the hidden layer fed, x is not needed."""
    loss = network()
    result = ref.SGD(0.5).minimize(loss, parameter_list=["b.w_0"])
    executor = started()
    hidden = np.full((2, 4), 0.5, np.float32)
    before = np.array(executor.scope.get("b.w_0"))
    (fetched,) = executor.run(feed={"a.tmp_2": hidden}, fetch_list=[loss, result])
    np.testing.assert_array_equal(fetched, np.mean(hidden @ before))
    np.testing.assert_array_equal(executor.scope.get("b.w_0"), before - np.float32(0.5) * np.float32(0.25))


# names


def test_two_programs_under_one_executor_do_not_share_by_accident():
    (first, first_startup, loss), (second, second_startup, _) = small_program(), small_program()
    ref.SGD(0.5).minimize(loss, first_startup)
    executor = Executor()
    executor.run(first_startup)
    executor.run(second_startup)
    names = [{p.name for p in program.all_parameters()} for program in (first, second)]
    before = values(executor, second)
    executor.run(first, FEED)
    assert not names[0] & names[1]
    for name, value in values(executor, second).items():
        np.testing.assert_array_equal(value, before[name])


def test_an_optimizer_on_two_programs_has_a_momentum_for_each():
    (first, first_startup, loss), (second, second_startup, other) = small_program(), small_program()
    momentum = ref.Momentum(0.5, 0.5)
    momentum.minimize(loss, first_startup)
    momentum.minimize(other, second_startup)
    executor = Executor()
    executor.run(first_startup)
    executor.run(second_startup)
    steps = []
    for program in (first, second):
        bias = program.all_parameters()[1].name
        steps.append([moved(executor, bias, program=program).tolist() for _ in range(2)])
    assert steps[0] == steps[1]
    assert steps[0][1] == [1.5 * step for step in steps[0][0]]
    assert len(momentum.state_dict()) == 8


def test_a_name_given_twice_is_one_parameter_on_purpose():
    x = layers.data("x", [None, 3])
    shared = layers.ParamAttr(name="shared")
    both = [layers.fc(x, 2, param_attr=shared, bias_attr=False) for _ in range(2)]
    assert [p.name for p in default_main_program().all_parameters()] == ["shared"]
    _, ((p, grad),) = ref.SGD(0.5).minimize(layers.mean(layers.concat(both)))
    (value,) = started().run(feed=FEED, fetch_list=[grad])
    assert p.name == "shared"
    np.testing.assert_array_equal(value, np.repeat(FEED["x"].sum(axis=0)[:, np.newaxis] / 4, 2, axis=1) / 2 * 2)


def test_two_eager_layers_have_a_weight_each():
    first, second = Linear(3, 3), Linear(3, 3)
    out = second(first(ONES))
    out.backward()
    assert [p.name for p in (*first.parameters(), *second.parameters())] == [
        "linear_0.w_0",
        "linear_0.b_0",
        "linear_1.w_0",
        "linear_1.b_0",
    ]
    np.testing.assert_array_equal(first.bias.grad, second.weight.value.sum(axis=1))
    np.testing.assert_array_equal(second.bias.grad, np.ones(3))


def test_eager_arithmetic_and_its_gradient():
    w = parameter("w", (3.0, -4.0), None, np.float64)
    out = (2.0 * w + 1.0 - w / 2.0) ** 2
    (-out).backward()
    np.testing.assert_array_equal(w.grad, -2 * 1.5 * (1.5 * np.array([3.0, -4.0]) + 1))
    assert float(Tensor.of(np.array([2.5]))) == 2.5


def test_a_tensor_used_often_is_differentiated_once():
    """Thirty doublings are thirty nodes, not 2^30 evaluations."""
    w = parameter("w", (1.0,), None, np.float64)
    out = w + 0.0
    for _ in range(30):
        out = out + out
    out.backward()
    np.testing.assert_array_equal(w.grad, [2.0**30])


def test_variables_have_arithmetic_too():
    x = layers.data("x", [None, 3])
    (value,) = Executor().run(feed=FEED, fetch_list=[(2.0 * x - x * x) / 0.5 + 1.0])
    np.testing.assert_array_equal(value, (2 * FEED["x"] - FEED["x"] ** 2) / np.float32(0.5) + 1)


# several gradients in a program


def test_a_loss_is_minimized_twice():
    """Both steps take the same gradient, for the forward operators run once; it is named anew the second time."""
    loss = network()
    _, pairs = ref.SGD(0.5).minimize(loss)
    _, again = ref.SGD(0.25).minimize(loss)
    assert (pairs[2][1].name, again[2][1].name) == ("b.w_0@GRAD", "b.w_0@GRAD_0")
    executor = started()
    before = np.array(executor.scope.get("b.w_0"))
    first, second = executor.run(feed=FEED, fetch_list=[pairs[2][1], again[2][1]])
    np.testing.assert_array_equal(first, second)
    expected = before - np.float32(0.5) * first - np.float32(0.25) * second
    np.testing.assert_array_equal(executor.scope.get("b.w_0"), expected)


def test_two_losses_over_one_hidden_layer_and_two_optimizers():
    x = layers.data("x", [None, 3])
    hidden = layers.fc(x, 4, act="tanh", name="shared")
    losses = [layers.mean(layers.fc(hidden, 2, name=name)) for name in ("left", "right")]
    adam, sgd = ref.Adam(0.1), ref.SGD(0.5)
    pairs = [adam.minimize(losses[0])[1], sgd.minimize(losses[1])[1]]
    assert [[p.name for p, _ in each] for each in pairs] == [
        ["shared.w_0", "shared.b_0", "left.w_0", "left.b_0"],
        ["shared.w_0", "shared.b_0", "right.w_0", "right.b_0"],
    ]
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed=FEED)
    for name, value in values(executor, default_main_program()).items():
        assert np.any(value != before[name]), name


def test_a_stopped_variable_lets_no_gradient_through():
    """The mutant that ignores stop_gradient (programs/backward.py)."""
    x = layers.data("x", [None, 3])
    hidden = layers.fc(x, 4, name="a")
    hidden.stop_gradient = True
    _, pairs = ref.SGD(0.5).minimize(layers.mean(layers.fc(hidden, 2, name="b")))
    assert [p.name for p, _ in pairs] == ["b.w_0", "b.b_0"]
