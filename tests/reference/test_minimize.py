"""`Optimizer.minimize` and its two parts, in programs."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.programs import Program, layers
from optimetry.reference.programs.program import default_main_program, default_startup_program
from tests.reference.first_step import values
from tests.reference.small import FEED, fresh, network, started


def test_minimize_is_backward_then_apply_gradients():
    loss = network()
    operators, pairs = ref.SGD(0.1).minimize(loss)
    at_once, run = values(exe := started(), default_main_program()), exe.run(feed=FEED)
    with fresh():
        other = ref.SGD(0.1)
        in_parts = other.backward(network())
        appended = other.apply_gradients(in_parts)
        there = started()
        there.run(feed=FEED)
        separately = values(there, default_main_program())
    assert run == []
    assert [p.name for p, _ in pairs] == [p.name for p, _ in in_parts] == ["a.w_0", "a.b_0", "b.w_0"]
    assert [o.name for o in operators] == [o.name for o in appended] == ["learning_rate", "sgd", "sgd", "sgd"]
    for name, value in values(exe, default_main_program()).items():
        np.testing.assert_array_equal(value, separately[name], strict=True)
        assert np.any(value != at_once[name])


def test_apply_optimize_appends_to_the_named_startup_program():
    loss, startup = network(), Program()
    sgd = ref.SGD(0.1)
    operators = sgd.apply_optimize(loss, startup, sgd.backward(loss))
    assert [o.name for o in operators] == ["learning_rate", "sgd", "sgd", "sgd"]
    assert [o.outputs[0].name for o in startup.operators] == [
        "a.w_0_sgd_updates_0",
        "a.b_0_sgd_updates_0",
        "b.w_0_sgd_updates_0",
    ]
    assert not startup.variables.keys() & default_startup_program().variables.keys()


@pytest.mark.parametrize("how", ["parameter_list", "parameters", "constructor", "names"])
def test_only_the_listed_parameters_are_updated(how):
    loss = network()
    bias = default_main_program().variables["a.b_0"]
    constructor, call = {
        "parameter_list": ({}, {"parameter_list": [bias]}),
        "parameters": ({}, {"parameters": [bias]}),
        "constructor": ({"parameter_list": [bias]}, {}),
        "names": ({}, {"parameter_list": ["a.b_0"]}),
    }[how]
    _, pairs = ref.SGD(0.1, **constructor).minimize(loss, **call)
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed=FEED)
    after = values(executor, default_main_program())
    assert [p.name for p, _ in pairs] == ["a.b_0"]
    assert [name for name in before if np.any(before[name] != after[name])] == ["a.b_0"]


@pytest.mark.parametrize("as_name", [False, True])
def test_no_gradient_flows_through_the_no_grad_set(as_name):
    loss = network()
    weight = default_main_program().variables["b.w_0"]
    _, pairs = ref.SGD(0.1).minimize(loss, no_grad_set={weight.name if as_name else weight})
    assert [p.name for p, _ in pairs] == ["a.w_0", "a.b_0"]
    with fresh():
        loss = network()
        hidden = default_main_program().operators[2].outputs[0]
        _, pairs = ref.SGD(0.1).minimize(loss, no_grad_set={hidden})
    assert hidden.name == "a.tmp_2"
    assert [p.name for p, _ in pairs] == ["b.w_0"]


def test_callbacks_see_every_backward_operator():
    seen = []
    loss = network()
    ref.SGD(0.1).backward(loss, callbacks=[lambda program, operator: seen.append((program, operator))])
    program = default_main_program()
    assert seen == [(program, operator) for operator in program.operators if operator.role == "backward"]
    assert len(seen) == 6


def test_gradients_are_those_of_finite_differences():
    """In float64, against central differences, whose error is of order h² and eps/h; 64 covers the constants."""
    x = layers.data("x", [None, 3], "float64")
    hidden = layers.fc(x, 4, act="tanh")
    both = layers.concat([layers.fc(hidden, 2, act="softmax"), layers.fc(hidden, 2, act="sigmoid")], axis=1)
    loss = layers.reduce_sum(layers.square_error_cost(both, layers.fc(x, 4, act="relu")))
    pairs = ref.SGD(0.1).backward(loss)
    executor, feed, h = started(), {"x": FEED["x"].astype(np.float64)}, 2.0**-18
    error = 64 * (h * h + np.finfo(np.float64).eps / h)
    grads = executor.run(feed=feed, fetch_list=[grad for _, grad in pairs])
    for (param, _), grad in zip(pairs, grads, strict=True):
        at = executor.scope.get(param.name)
        for index in np.ndindex(at.shape):
            both_sides = []
            for sign in (1, -1):
                moved = at.copy()
                moved[index] += sign * h
                executor.scope.values[param.name] = moved
                both_sides.append(executor.run(feed=feed, fetch_list=[loss])[0])
            assert abs((both_sides[0] - both_sides[1]) / (2 * h) - grad[index]) < error
        executor.scope.values[param.name] = at


def test_a_frozen_parameter_stays():
    x = layers.data("x", [None, 3])
    loss = layers.mean(layers.fc(x, 2, param_attr=layers.ParamAttr(trainable=False), name="a"))
    _, pairs = ref.SGD(0.1).minimize(loss)
    assert [p.name for p, _ in pairs] == ["a.b_0"]
