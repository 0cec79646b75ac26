"""Six small programs, and a seventh, in the API of fluid 1.8.5, which real fluid and `optimetry.fluid` run unchanged.

``python six_programs.py`` under Python 3.7 with paddlepaddle 1.8.5 prints the losses of real fluid, as the hexadecimal
bits of float32; they are committed as golden/losses185.json. Parameters begin at given values, so nothing is random.
"""

import json
import sys

import numpy as np

X = (np.arange(24).reshape(8, 3) % 7 - 3).astype("float32") / 4
Y = (X[:, :1] * 2 - X[:, 1:2] + 0.5).astype("float32")
IDS = np.array([[1], [3], [3], [7]], "int64")
STEPS = 10


def weight(fluid, rows, columns, name):
    """A parameter with values between -1/2 and 1/2."""
    values = ((np.arange(rows * columns) * 5 % 11 - 5) / 10.0).reshape(rows, columns).astype("float32")
    return fluid.ParamAttr(name=name, initializer=fluid.initializer.NumpyArrayInitializer(values))


def dense(fluid, x, size, name, act=None):
    """A layer with given weights and a bias of 0."""
    bias = fluid.ParamAttr(name=name + "_b", initializer=fluid.initializer.Constant(0.0))
    return fluid.layers.fc(
        input=x, size=size, act=act, param_attr=weight(fluid, x.shape[1], size, name + "_w"), bias_attr=bias
    )


def data(fluid):
    """The two inputs."""
    return (
        fluid.layers.data(name="x", shape=[3], dtype="float32"),
        fluid.layers.data(name="y", shape=[1], dtype="float32"),
    )


def cost(fluid, predicted, y):
    """The mean squared error."""
    return fluid.layers.mean(fluid.layers.square_error_cost(input=predicted, label=y))


def train(fluid, program, startup, fetch, executor=None):
    """The fetched scalars of each step."""
    exe = executor or fluid.Executor(fluid.CPUPlace())
    exe.run(startup)
    return [[v.reshape(-1)[0] for v in exe.run(program, feed={"x": X, "y": Y}, fetch_list=fetch)] for _ in range(STEPS)]


def regression(fluid, main, startup):
    """Linear regression by SGD."""
    x, y = data(fluid)
    loss = cost(fluid, dense(fluid, x, 1, "r"), y)
    fluid.optimizer.SGD(learning_rate=0.125).minimize(loss)
    return train(fluid, main, startup, [loss])


def mlp(fluid, main, startup):
    """Two layers by Adam, with L2 decay and a clip by the global norm."""
    x, y = data(fluid)
    loss = cost(fluid, dense(fluid, dense(fluid, x, 5, "m1", "tanh"), 1, "m2"), y)
    adam = fluid.optimizer.Adam(
        learning_rate=0.05,
        regularization=fluid.regularizer.L2Decay(0.01),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5),
    )
    adam.minimize(loss)
    return train(fluid, main, startup, [loss])


def averages(fluid, main, startup):
    """Momentum, with both averages applied and restored behind it."""
    x, y = data(fluid)
    loss = cost(fluid, dense(fluid, x, 1, "a"), y)
    test = main.clone(for_test=True)
    fluid.optimizer.Momentum(learning_rate=0.05, momentum=0.5).minimize(loss)
    ema = fluid.optimizer.ExponentialMovingAverage(0.75)
    ema.update()
    window = fluid.optimizer.ModelAverage(0.5, min_average_window=2, max_average_window=4)
    exe = fluid.Executor(fluid.CPUPlace())
    losses = train(fluid, main, startup, [loss], exe)

    def tested():
        return [v.reshape(-1)[0] for v in exe.run(test, feed={"x": X, "y": Y}, fetch_list=[loss.name])]

    with window.apply(exe):
        losses.append(tested())
    losses.append(tested())
    with ema.apply(exe, need_restore=False):
        losses.append(tested())
    ema.restore(exe)
    losses.append(tested())
    return losses


def recompute(fluid, main, startup):
    """Three layers by SGD, computed again in the backward pass."""
    x, y = data(fluid)
    first = dense(fluid, x, 4, "c1", "tanh")
    second = dense(fluid, first, 4, "c2", "tanh")
    loss = cost(fluid, dense(fluid, second, 1, "c3"), y)
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(learning_rate=0.1))
    optimizer._set_checkpoints([first, second])
    optimizer.minimize(loss)
    return train(fluid, main, startup, [loss])


def two_losses(fluid, main, startup):
    """Two losses over one hidden layer, each with an optimizer of its own."""
    x, y = data(fluid)
    hidden = dense(fluid, x, 4, "t", "sigmoid")
    left = cost(fluid, dense(fluid, hidden, 1, "t1"), y)
    right = fluid.layers.mean(dense(fluid, hidden, 2, "t2"))
    fluid.optimizer.SGD(learning_rate=0.1).minimize(left)
    fluid.optimizer.Adagrad(learning_rate=0.05).minimize(right)
    return train(fluid, main, startup, [left, right])


def embedding(fluid, main, startup):
    """A table with sparse gradients, trained eagerly by Adagrad."""
    return rows(fluid, fluid.optimizer.Adagrad, {})


def lazy_adam(fluid, main, startup):
    """The same by Adam in lazy mode: a seventh program, because fluid computes another rule there."""
    return rows(fluid, fluid.optimizer.Adam, {"lazy_mode": True})


def rows(fluid, optimizer, options):
    """The losses of a table that an optimizer trains."""
    with fluid.dygraph.guard():
        table = fluid.dygraph.Embedding(size=[10, 4], is_sparse=True, param_attr=weight(fluid, 10, 4, "e"))
        made = optimizer(learning_rate=0.1, parameter_list=table.parameters(), **options)
        losses = []
        for step in range(STEPS):
            out = table(fluid.dygraph.to_variable((IDS + step) % 10))
            loss = fluid.layers.reduce_mean(out * out)
            loss.backward()
            made.minimize(loss)
            table.clear_gradients()
            losses.append([loss.numpy().reshape(-1)[0]])
        return losses


PROGRAMS = {f.__name__: f for f in (regression, mlp, averages, recompute, two_losses, embedding, lazy_adam)}


def losses(fluid, name):
    """The losses of one program."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        return PROGRAMS[name](fluid, main, startup)


if __name__ == "__main__":
    import paddle
    import paddle.fluid as real

    def word(value):
        return format(int(np.float32(value).view("uint32")), "08x")

    bits = {name: [[word(value) for value in step] for step in losses(real, name)] for name in PROGRAMS}
    made = {"framework": "paddlepaddle", "version": paddle.__version__, "python": sys.version.split()[0]}
    print(json.dumps({"numpy": np.__version__, "device": "cpu", "losses": bits, **made}, indent=1, sort_keys=True))
