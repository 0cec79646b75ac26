"""The examples of pages 000, 001, 003 and 004 on dynamic graphs, and what they print."""

import numpy as np
import pytest

from optimetry import fluid, paddle
from optimetry.reference.programs import eager
from tests.reference.first_step import expected

# ruff: noqa: NPY002 - the examples draw from NumPy's old generator, seeded here
STEP_DECAY = [
    "0.5",
    "0.5",
    "0.05",
    "0.05",
    "0.005000000000000001",
    "0.005000000000000001",
    "0.0005000000000000001",
    "0.0005000000000000001",
    "5.000000000000001e-05",
    "5.000000000000001e-05",
]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Examples save files where they run."""
    monkeypatch.chdir(tmp_path)
    np.random.seed(0)


def printed(capsys):
    return capsys.readouterr().out.splitlines()


def test_asgd():
    inp = paddle.uniform(min=-0.1, max=0.1, shape=[10, 10], dtype="float32")
    linear = paddle.nn.Linear(10, 10)
    before = np.array(linear.weight.value)
    inp = paddle.to_tensor(inp)
    out = linear(inp)
    loss = paddle.mean(out)
    asgd = paddle.optimizer.ASGD(learning_rate=0.001, batch_num=10, parameters=linear.parameters(), weight_decay=0.01)
    loss_at = loss.value
    loss.backward()
    asgd_gradient = np.array(linear.weight.grad)
    asgd.step()
    asgd.clear_grad()

    assert loss_at.dtype == np.float32
    want = expected("asgd", 0.001, before, asgd_gradient, batch_num=10, weight_decay=0.01)
    np.testing.assert_array_equal(linear.weight.value, want, strict=True)
    assert not np.any(linear.weight.grad)


def test_step_and_clear_grad():
    a = paddle.arange(26, dtype="float32").reshape([2, 13])
    linear = paddle.nn.Linear(13, 5)
    before = np.array(linear.weight.value)
    # This can be any optimizer supported by dygraph.
    adam = paddle.optimizer.Adam(learning_rate=0.01, parameters=linear.parameters())
    out = linear(a)
    out.backward()
    adam.step()
    np.testing.assert_array_equal(linear.weight.grad, np.repeat(a.numpy().sum(axis=0)[:, np.newaxis], 5, axis=1))
    want = expected("adam", 0.01, before, linear.weight.grad)
    np.testing.assert_array_equal(linear.weight.value, want, strict=True)
    adam.clear_grad()

    assert not np.any(linear.weight.grad)
    assert not np.any(linear.bias.grad)


def test_clear_gradients_of_page_003():
    with fluid.dygraph.guard():
        value = np.arange(26).reshape(2, 13).astype("float32")
        a = fluid.dygraph.to_variable(value)
        linear = fluid.Linear(13, 5, dtype="float32")
        # This can be any optimizer supported by dygraph.
        adam = fluid.optimizer.Adam(learning_rate=0.01, parameter_list=linear.parameters())
        out = linear(a)
        out.backward()
        adam.minimize(out)
        adam.clear_gradients()
    assert not np.any(linear.weight.grad)
    assert adam.state_dict()["linear_0.w_0_adam_updates"] == 1


def test_get_lr_without_a_scheduler(capsys):
    emb = paddle.nn.Embedding(10, 3)
    ## example1: LRScheduler is not used, return the same value is all the same
    adam = paddle.optimizer.Adam(0.01, parameters=emb.parameters())
    for batch in range(10):
        input = paddle.randint(low=0, high=5, shape=[5])  # noqa: A001 - the example's name
        out = emb(input)
        out.backward()
        print("Learning rate of step{}: {}".format(batch, adam.get_lr()))  # noqa: UP032 # 0.01
        adam.step()
    assert printed(capsys) == [f"Learning rate of step{batch}: 0.01" for batch in range(10)]


def test_get_lr_with_a_scheduler(capsys):
    emb = paddle.nn.Embedding(10, 3)
    ## example2: StepDecay is used, return the scheduled learning rate
    scheduler = paddle.optimizer.lr.StepDecay(learning_rate=0.5, step_size=2, gamma=0.1)
    adam = paddle.optimizer.Adam(scheduler, parameters=emb.parameters())
    for batch in range(10):
        input = paddle.randint(low=0, high=5, shape=[5])  # noqa: A001 - the example's name
        out = emb(input)
        out.backward()
        print("Learning rate of step{}: {}".format(batch, adam.get_lr()))  # noqa: UP032 # 0.5->0.05...
        adam.step()
        scheduler.step()
    assert printed(capsys) == [f"Learning rate of step{batch}: {rate}" for batch, rate in enumerate(STEP_DECAY)]


def test_get_lr_in_a_program(capsys):
    main_prog = paddle.static.Program()
    start_prog = paddle.static.Program()
    with paddle.static.program_guard(main_prog, start_prog):
        x = paddle.static.data(name="x", shape=[None, 10])
        z = paddle.static.nn.fc(x, 100)
        loss = fluid.layers.mean(z)
        scheduler = paddle.optimizer.lr.StepDecay(learning_rate=0.5, step_size=2, gamma=0.1)
        adam = paddle.optimizer.Adam(learning_rate=scheduler)
        adam.minimize(loss)
    exe = paddle.static.Executor()
    exe.run(start_prog)
    for batch in range(10):
        print("Learning rate of step{}: {}".format(batch, adam.get_lr()))  # noqa: UP032 # 0.5->0.05->0.005...
        out = exe.run(main_prog, feed={"x": np.random.randn(3, 10).astype("float32")})
        scheduler.step()
    assert out == []
    assert printed(capsys) == [f"Learning rate of step{batch}: {rate}" for batch, rate in enumerate(STEP_DECAY)]


def test_minimize():
    linear = paddle.nn.Linear(10, 10)
    input = paddle.uniform(shape=[10, 10], min=-0.1, max=0.1)  # noqa: A001 - the example's name
    before = np.array(linear.weight.value)
    out = linear(input)
    loss = paddle.mean(out)
    adam = paddle.optimizer.Adam(learning_rate=0.1, parameters=linear.parameters(), weight_decay=0.01)
    loss.backward()
    operators, pairs = adam.minimize(loss)
    gradient = np.array(linear.weight.grad)
    adam.clear_grad()

    assert operators == []
    assert [parameter for parameter, _ in pairs] == linear.parameters()
    decayed = gradient + np.float32(0.01) * before
    np.testing.assert_array_equal(linear.weight.value, expected("adam", 0.1, before, decayed), strict=True)


def test_set_lr(capsys):
    linear = paddle.nn.Linear(10, 10)
    adam = paddle.optimizer.Adam(0.1, parameters=linear.parameters())
    # set learning rate manually by python float value
    lr_list = [0.2, 0.3, 0.4, 0.5, 0.6]
    for i in range(5):
        adam.set_lr(lr_list[i])
        lr = adam.get_lr()
        print("current lr is {}".format(lr))  # noqa: UP032
    assert printed(capsys) == [f"current lr is {rate}" for rate in (0.2, 0.3, 0.4, 0.5, 0.6)]


def test_set_lr_of_page_003(capsys):
    with fluid.dygraph.guard():
        linear = fluid.dygraph.nn.Linear(10, 10)
        adam = fluid.optimizer.Adam(0.1, parameter_list=linear.parameters())

        # set learning rate manually by python float value
        lr_list = [0.2, 0.3, 0.4, 0.5, 0.6]
        for i in range(5):
            adam.set_lr(lr_list[i])
            lr = adam.current_step_lr()
            print("current lr is {}".format(lr))  # noqa: UP032

        # set learning rate manually by framework Variable
        lr_var = eager.Tensor.of(np.full([1], 0.7, "float32"))
        adam.set_lr(lr_var)
        lr = adam.current_step_lr()
        print(f"current lr is {np.float32(lr).astype(str)}")
    # A float32 0.7 is no 0.7: as a Python float it prints as 0.699999988079071, whatever the page says.
    assert printed(capsys) == [f"current lr is {rate}" for rate in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)]
    assert lr == float(np.float32(0.7))


def test_set_lr_scheduler(capsys):
    linear = paddle.nn.Linear(10, 10)
    adam = paddle.optimizer.Adam(0.1, parameters=linear.parameters())
    # set learning rate manually by class LRScheduler
    scheduler = paddle.optimizer.lr.MultiStepDecay(learning_rate=0.5, milestones=[2, 4, 6], gamma=0.8)
    adam.set_lr_scheduler(scheduler)
    lr = adam.get_lr()
    print("current lr is {}".format(lr))  # noqa: UP032
    # set learning rate manually by another LRScheduler
    scheduler = paddle.optimizer.lr.StepDecay(learning_rate=0.1, step_size=5, gamma=0.6)
    adam.set_lr_scheduler(scheduler)
    lr = adam.get_lr()
    print("current lr is {}".format(lr))  # noqa: UP032
    assert printed(capsys) == ["current lr is 0.5", "current lr is 0.1"]


def test_current_step_lr_without_decay():
    with fluid.dygraph.guard():
        emb = fluid.dygraph.Embedding([10, 10])
        adam = fluid.optimizer.Adam(0.001, parameter_list=emb.parameters())
        lr = adam.current_step_lr()
    assert lr == 0.001


@pytest.mark.parametrize("has_gradients", [False, True])
def test_current_step_lr_with_decay(has_gradients):
    with fluid.dygraph.guard():
        inp = np.random.uniform(-0.1, 0.1, [10, 10]).astype("float32")
        linear = fluid.dygraph.nn.Linear(10, 10)
        inp = fluid.dygraph.to_variable(inp)
        out = linear(inp)
        loss = eager.reduce_mean(out)

        bd = [2, 4, 6, 8]
        value = [0.2, 0.4, 0.6, 0.8, 1.0]
        adam = fluid.optimizer.Adam(fluid.dygraph.PiecewiseDecay(bd, value, 0), parameter_list=linear.parameters())
        if has_gradients:
            loss.backward()

        # first step: learning rate is 0.2
        assert adam.current_step_lr() == 0.2  # np.allclose(adam.current_step_lr(), 0.2, rtol=1e-06, atol=0.0) # True

        # learning rate for different steps
        ret = [0.2, 0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8, 1.0, 1.0, 1.0, 1.0]
        for i in range(12):
            adam.minimize(loss)
            lr = adam.current_step_lr()
            assert lr == ret[i]  # np.allclose(lr, ret[i], rtol=1e-06, atol=0.0) # True


def test_set_state_dict(capsys):
    emb = paddle.nn.Embedding(10, 10)

    layer_state_dict = emb.state_dict()
    paddle.save(layer_state_dict, "emb.pdparams")
    scheduler = paddle.optimizer.lr.NoamDecay(d_model=0.01, warmup_steps=100, verbose=True)
    adam = paddle.optimizer.Adam(learning_rate=scheduler, parameters=emb.parameters())
    opt_state_dict = adam.state_dict()
    paddle.save(opt_state_dict, "adam.pdopt")
    opti_state_dict = paddle.load("adam.pdopt")
    adam.set_state_dict(opti_state_dict)
    assert opti_state_dict == {}
    assert list(paddle.load("emb.pdparams")) == ["embedding_0.w_0"]
    assert printed(capsys) == ["Epoch 0: NoamDecay set learning rate to 0.0."]


def test_set_dict_of_pages_000_and_004():
    with fluid.dygraph.guard():
        emb = fluid.dygraph.Embedding([10, 10])

        state_dict = emb.state_dict()
        paddle.save(state_dict, "paddle_dy.pdparams")

        adam = fluid.optimizer.Adam(learning_rate=fluid.layers.noam_decay(100, 10000), parameter_list=emb.parameters())
        emb(np.array([1, 2, 2])).backward()
        adam.step()
        state_dict = adam.state_dict()
        paddle.save(state_dict, "paddle_dy.pdopt")

        para_state_dict, opti_state_dict = (paddle.load(f"paddle_dy.{kind}") for kind in ("pdparams", "pdopt"))

        adam.set_dict(opti_state_dict)
    assert list(para_state_dict) == ["embedding_0.w_0"]
    assert opti_state_dict["global_step"] == 2
    assert opti_state_dict["embedding_0.w_0_adam_updates"] == 1
    moment = adam.state_dict()["embedding_0.w_0_adam_moment1"]
    np.testing.assert_array_equal(moment, opti_state_dict["embedding_0.w_0_adam_moment1"], strict=True)
    assert moment[2, 0] == np.float32(1 - 0.9) * np.float32(2)


def test_state_dict():
    emb = paddle.nn.Embedding(10, 10)

    adam = paddle.optimizer.Adam(0.001, parameters=emb.parameters())
    state_dict = adam.state_dict()
    assert state_dict == {}


def test_state_dict_of_pages_000_and_004():
    adam = fluid.optimizer.Adam(0.001)
    state_dict = adam.state_dict()
    assert state_dict == {}
