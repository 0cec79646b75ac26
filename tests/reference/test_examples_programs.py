"""The examples of pages 000, 003 and 004 that build programs. Only what the pages lost in printing is filled in."""

import numpy as np
import pytest

from optimetry import fluid
from tests.reference.first_step import run_and_check
from tests.reference.small import housing

# ruff: noqa: NPY002 - the examples draw from NumPy's old generator, seeded here
numpy = np


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(0)


@pytest.mark.parametrize(
    ("make", "rule", "hyper"),
    [
        (lambda: fluid.optimizer.AdagradOptimizer(learning_rate=0.2), ("adagrad", 0.2), {}),
        (
            lambda: fluid.optimizer.LarsMomentumOptimizer(learning_rate=0.001, momentum=0.9),
            ("lars_momentum", 0.001),
            {"momentum": 0.9},
        ),
    ],
    ids=["AdagradOptimizer", "LarsMomentumOptimizer"],
)
def test_adagrad_and_lars(make, rule, hyper):
    np_inp = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    inp = fluid.layers.data(name="inp", shape=[2, 2], append_batch_size=False)
    out = fluid.layers.fc(inp, size=3)
    out = fluid.layers.reduce_sum(out)
    optimizer = make()
    _, pairs = optimizer.minimize(out)

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    (value,) = exe.run(feed={"inp": np_inp}, fetch_list=[out.name])

    assert value.shape == (1,)
    assert np.isfinite(value)
    exe.run(fluid.default_startup_program())
    run_and_check(exe, fluid.default_main_program(), pairs, {"inp": np_inp}, *rule, **hyper)


def test_apply_gradients():
    def network():
        x = fluid.data(name="x", shape=[None, 3])
        return fluid.layers.mean(fluid.layers.fc(x, size=2))

    loss = network()
    optimizer = fluid.optimizer.SGD(learning_rate=0.1)
    params_grads = optimizer.backward(loss)
    # you may append operations for params_grads here
    # ...
    operators = optimizer.apply_gradients(params_grads)

    assert [operator.name for operator in operators] == ["learning_rate", "sgd", "sgd"]
    assert fluid.default_main_program().operators[-3:] == operators
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones((2, 3), np.float32)}
    run_and_check(exe, fluid.default_main_program(), params_grads, feed, "sgd", 0.1)


def test_adamax():
    # First create the Executor.
    place = fluid.CPUPlace()  # fluid.CUDAPlace(0)
    exe = fluid.Executor(place)

    train_program = fluid.Program()
    startup_program = fluid.Program()
    with fluid.program_guard(train_program, startup_program):
        data = fluid.data(name="X", shape=[None, 1], dtype="float32")
        hidden = fluid.layers.fc(input=data, size=10)
        loss = fluid.layers.mean(hidden)
        adam = fluid.optimizer.AdamaxOptimizer(learning_rate=0.2)
        _, pairs = adam.minimize(loss)

    # Run the startup program once and only once.
    exe.run(startup_program)

    x = numpy.random.random(size=(10, 1)).astype("float32")
    outs = exe.run(program=train_program, feed={"X": x}, fetch_list=[loss.name])

    assert outs[0].dtype == np.float32
    exe.run(startup_program)
    run_and_check(exe, train_program, pairs, {"X": x}, "adamax", 0.2)


@pytest.mark.parametrize(
    ("make", "rule", "hyper"),
    [
        (lambda: fluid.optimizer.AdamOptimizer(0.01), ("adam", 0.01), {}),
        (lambda: fluid.optimizer.Ftrl(learning_rate=0.1), ("ftrl", 0.1), {}),
        (
            lambda: fluid.optimizer.MomentumOptimizer(learning_rate=0.001, momentum=0.9),
            ("momentum", 0.001),
            {"momentum": 0.9},
        ),
        (lambda: fluid.optimizer.RMSProp(learning_rate=0.1), ("rmsprop", 0.1), {}),
        (lambda: fluid.optimizer.SGD(learning_rate=0.001), ("sgd", 0.001), {}),
    ],
    ids=["AdamOptimizer", "FtrlOptimizer", "MomentumOptimizer", "RMSPropOptimizer", "SGDOptimizer"],
)
def test_linear_regression(make, rule, hyper):
    place = fluid.CPUPlace()
    main = fluid.Program()
    with fluid.program_guard(main):
        x = fluid.layers.data(name="x", shape=[13], dtype="float32")
        y = fluid.layers.data(name="y", shape=[1], dtype="float32")
        y_predict = fluid.layers.fc(input=x, size=1, act=None)
        cost = fluid.layers.square_error_cost(input=y_predict, label=y)
        avg_cost = fluid.layers.mean(cost)

        optimizer = make()
        _, pairs = optimizer.minimize(avg_cost)

        fetch_list = [avg_cost]
        feeder = fluid.DataFeeder(place=place, feed_list=[x, y])
        exe = fluid.Executor(place)
        exe.run(fluid.default_startup_program())
        for data in housing():
            exe.run(main, feed=feeder.feed(data), fetch_list=fetch_list)

        counts = [count for key, count in optimizer.state_dict().items() if key.endswith("_updates")]
        assert counts == [3, 3]
        exe.run(fluid.default_startup_program())
        assert optimizer.state_dict() == {}
        run_and_check(exe, main, pairs, feeder.feed(next(housing())), *rule, **hyper)


def test_decayed_adagrad():
    x = fluid.data(name="x", shape=[None, 10], dtype="float32")
    trans = fluid.layers.fc(x, 100)
    cost = fluid.layers.reduce_mean(trans)
    optimizer = fluid.optimizer.DecayedAdagradOptimizer(learning_rate=0.2)
    _, pairs = optimizer.minimize(cost)

    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones((2, 10), np.float32)}
    run_and_check(exe, fluid.default_main_program(), pairs, feed, "decayed_adagrad", 0.2)


def test_lamb():
    data = fluid.data(name="x", shape=[-1, 5], dtype="float32")
    hidden = fluid.layers.fc(input=data, size=10)
    cost = fluid.layers.mean(hidden)

    def exclude_fn(param):
        return param.name.endswith(".b_0")

    optimizer = fluid.optimizer.Lamb(learning_rate=0.002, exclude_from_weight_decay_fn=exclude_fn)
    _, pairs = optimizer.minimize(cost)

    exe = fluid.Executor()
    feed = {"x": np.ones((2, 5), np.float32)}
    (weight,), (bias,) = ([pair for pair in pairs if pair[0].name.endswith(end)] for end in (".w_0", ".b_0"))
    exe.run(fluid.default_startup_program())
    run_and_check(exe, fluid.default_main_program(), [weight], feed, "lamb", 0.002)
    exe.run(fluid.default_startup_program())
    run_and_check(exe, fluid.default_main_program(), [bias], feed, "lamb", 0.002, lamb_weight_decay=0.0)
