"""The examples of pages 000 and 004 that wrap an optimizer or a program."""

import numpy as np
import pytest

from optimetry import fluid
from optimetry.reference.programs.program import default_main_program
from tests.reference.first_step import values

# ruff: noqa: NPY002 - the examples draw from NumPy's old generator, seeded here
numpy = np
layers = fluid.layers


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(0)


def test_dgc_momentum():
    optimizer = fluid.optimizer.DGCMomentumOptimizer(
        learning_rate=0.0001, momentum=0.9, rampup_step=1000, rampup_begin_step=1252, sparsity=[0.999, 0.999]
    )
    steps = [0, 1251, 1252, 1751, 1752, 2251, 2252, 10**6]
    assert [optimizer.rule.sparsity_at(step) for step in steps] == [None, None, *[0.999] * 6]


def test_the_ramp_up_that_page_000_describes():
    """0.75 at 0~19 steps, 0.9375 at 20~39 steps, and so on; after the list ends 0.999 then and after."""
    listed = [0.75, 0.9375, 0.984375, 0.996, 0.999]
    rule = fluid.optimizer.DGCMomentumOptimizer(
        learning_rate=0.1, momentum=0.9, rampup_begin_step=0, rampup_step=100, sparsity=listed
    ).rule
    assert [rule.sparsity_at(step) for step in range(100)] == [sparsity for sparsity in listed for _ in range(20)]
    assert {rule.sparsity_at(step) for step in range(100, 300)} == {0.999}


def test_exponential_moving_average():
    data = fluid.data(name="x", shape=[-1, 5], dtype="float32")
    hidden = fluid.layers.fc(input=data, size=10)
    cost = fluid.layers.mean(hidden)

    test_program = fluid.default_main_program().clone(for_test=True)

    optimizer = fluid.optimizer.Adam(learning_rate=0.001)
    optimizer.minimize(cost)

    global_steps = fluid.layers.learning_rate_scheduler._decay_step_counter()
    ema = fluid.optimizer.ExponentialMovingAverage(0.999, thres_steps=global_steps)
    ema.update()

    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())

    history = []
    for _pass_id in range(3):
        for _batch_id in range(6):
            data = numpy.random.random(size=(10, 5)).astype("float32")
            exe.run(program=fluid.default_main_program(), feed={"x": data}, fetch_list=[cost.name])
            history.append(values(exe, default_main_program()))

    # usage 1
    with ema.apply(exe):
        data = numpy.random.random(size=(10, 5)).astype("float32")
        (averaged,) = exe.run(program=test_program, feed={"x": data}, fetch_list=[hidden.name])
        applied = values(exe, default_main_program())
    same(values(exe, default_main_program()), history[-1])

    # usage 2
    with ema.apply(exe, need_restore=False):
        (again,) = exe.run(program=test_program, feed={"x": data}, fetch_list=[hidden.name])
    same(values(exe, default_main_program()), applied)
    ema.restore(exe)
    same(values(exe, default_main_program()), history[-1])

    np.testing.assert_array_equal(again, averaged, strict=True)
    (trained,) = exe.run(program=test_program, feed={"x": data}, fetch_list=[hidden.name])
    assert np.any(trained != averaged)
    # The weights of the average, with the decay min(0.999, (1 + s) / (10 + s)) at step s: in [min, max] of the history.
    for name, value in applied.items():
        seen = np.stack([step[name] for step in history])
        slack = np.spacing(np.abs(seen).max(axis=0)) * len(history)
        assert np.all((value >= seen.min(axis=0) - slack) & (value <= seen.max(axis=0) + slack))


def same(here, there):
    for name, value in here.items():
        np.testing.assert_array_equal(value, there[name], strict=True)


def test_model_average_apply_and_restore():
    """The three examples of ModelAverage, which are one program up to the last lines."""
    # First create the Executor.
    place = fluid.CPUPlace()  # fluid.CUDAPlace(0)
    exe = fluid.Executor(place)

    train_program = fluid.Program()
    startup_program = fluid.Program()
    with fluid.program_guard(train_program, startup_program):
        # build net
        data = fluid.data(name="X", shape=[None, 1], dtype="float32")
        hidden = fluid.layers.fc(input=data, size=10)
        loss = fluid.layers.mean(hidden)
        optimizer = fluid.optimizer.Momentum(learning_rate=0.2, momentum=0.1)
        optimizer.minimize(loss)

        # build ModelAverage optimizer
        model_average = fluid.optimizer.ModelAverage(0.15, min_average_window=10000, max_average_window=12500)

    exe.run(startup_program)
    for _ in range(100):  # 12,500 in the page, as test_printed.py runs it
        x = numpy.random.random(size=(10, 1)).astype("float32")
        exe.run(program=train_program, feed={"X": x}, fetch_list=[loss.name])
    trained = values(exe, train_program)

    # apply ModelAverage
    with model_average.apply(exe):
        applied = values(exe, train_program)
        x = numpy.random.random(size=(10, 1)).astype("float32")
        exe.run(program=train_program, feed={"X": x}, fetch_list=[loss.name])
    same(values(exe, train_program), trained)
    assert all(np.any(value != trained[name]) for name, value in applied.items())

    # apply ModelAverage
    with model_average.apply(exe, False):
        x = numpy.random.random(size=(10, 1)).astype("float32")
        exe.run(program=train_program, feed={"X": x}, fetch_list=[loss.name])
    assert all(np.any(value != trained[name]) for name, value in values(exe, train_program).items())

    # restore Parameters
    model_average.restore(exe)
    same(values(exe, train_program), trained)


def test_pipeline():
    x = fluid.layers.data(name="x", shape=[1], dtype="int64", lod_level=0)
    y = fluid.layers.data(name="y", shape=[1], dtype="int64", lod_level=0)
    emb_x = layers.embedding(input=x, param_attr=fluid.ParamAttr(name="embx"), size=[10, 2], is_sparse=False)
    emb_y = layers.embedding(
        input=y, param_attr=fluid.ParamAttr(name="emby", learning_rate=0.9), size=[10, 2], is_sparse=False
    )
    concat = layers.concat([emb_x, emb_y], axis=1)
    fc = layers.fc(input=concat, name="fc", size=1, num_flatten_dims=1, bias_attr=False)
    loss = layers.reduce_mean(fc)
    optimizer = fluid.optimizer.SGD(learning_rate=0.5)
    optimizer = fluid.optimizer.PipelineOptimizer(
        optimizer,
        cut_list=[[emb_x, emb_y], [loss]],
        place_list=[fluid.CPUPlace(), fluid.CUDAPlace(0), fluid.CPUPlace()],
        concurrency_list=[1, 1, 4],
        queue_size=2,
        sync_steps=1,
    )
    optimizer.minimize(loss)
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    before = values(exe, default_main_program())
    batch_size = 3
    dataset = [
        {name: np.random.randint(10, size=(batch_size, 1)) for name in ("x", "y")} for _ in range(5)
    ]  # in place of a file list, which the example leaves empty
    optimizer.train(exe, dataset)

    assert len(optimizer.sections) == 3
    after = values(exe, default_main_program())
    # The tables move by rows: -0.5 · 0.9 / 3 · the weights of fc for each row number in a batch.
    for name, feed in (("embx", "x"), ("emby", "y")):
        rows = np.unique(np.concatenate([batch[feed] for batch in dataset]))
        moved = np.flatnonzero(np.any(after[name] != before[name], axis=1))
        np.testing.assert_array_equal(moved, rows)
    assert np.all(after["fc.w_0"] != before["fc.w_0"])


def gen_data():
    return {
        "x": np.random.random(size=(32, 32)).astype("float32"),
        "y": np.random.randint(2, size=(32, 1)).astype("int64"),
    }


def mlp(input_x, input_y, hid_dim=128, label_dim=2):
    print(input_x)
    fc_1 = fluid.layers.fc(input=input_x, size=hid_dim)
    prediction = fluid.layers.fc(input=[fc_1], size=label_dim, act="softmax")
    cost = fluid.layers.cross_entropy(input=prediction, label=input_y)
    sum_cost = fluid.layers.reduce_mean(cost)
    return sum_cost, fc_1, prediction


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_recompute(is_wrapped, capsys):
    input_x = fluid.layers.data(name="x", shape=[32], dtype="float32")
    input_y = fluid.layers.data(name="y", shape=[1], dtype="int64")
    cost, fc_1, pred = mlp(input_x, input_y)

    sgd = fluid.optimizer.Adam(learning_rate=0.01)
    if is_wrapped:
        sgd = fluid.optimizer.RecomputeOptimizer(sgd)
        sgd._set_checkpoints([fc_1, pred])
    sgd.minimize(cost)

    print("Finished optimize")
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    step = 10

    for i in range(step):
        cost_val = exe.run(feed=gen_data(), program=fluid.default_main_program(), fetch_list=[cost.name])
        print("step=%d cost=%f" % (i, cost_val[0]))  # noqa: UP031 - as printed

    first, finished, *steps = capsys.readouterr().out.splitlines()
    assert first == "Variable('x', shape=(None, 32), dtype=float32)"
    assert finished == "Finished optimize"
    assert [line.split(" cost=")[0] for line in steps] == [f"step={i}" for i in range(step)]
    PRINTED.append(steps)
    assert PRINTED[0] == steps  # with and without recomputation


PRINTED: list[list[str]] = []
