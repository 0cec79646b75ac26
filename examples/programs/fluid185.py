"""The last real ``fluid``, PaddlePaddle 1.8.5, under the last Python that it has.

.. code-block:: sh

    python3.7 -m venv fluid185 && fluid185/bin/pip install paddlepaddle==1.8.5 "protobuf<3.21"
    cd examples/programs && optimetry check fluid185:Fluid --python ../../fluid185/bin/python --dtype float32
"""

import numpy as np
import paddle
from paddle import fluid

OPTIMIZERS = {
    "sgd": (fluid.optimizer.SGDOptimizer, {}),
    "momentum": (fluid.optimizer.MomentumOptimizer, {"momentum": "momentum", "use_nesterov": "use_nesterov"}),
    "lars_momentum": (
        fluid.optimizer.LarsMomentumOptimizer,
        {"momentum": "momentum", "lars_coeff": "lars_coeff", "lars_weight_decay": "lars_weight_decay"},
    ),
    "adagrad": (
        fluid.optimizer.AdagradOptimizer,
        {"epsilon": "epsilon", "initial_accumulator_value": "initial_accumulator_value"},
    ),
    "decayed_adagrad": (fluid.optimizer.DecayedAdagradOptimizer, {"decay": "decay", "epsilon": "epsilon"}),
    "adadelta": (fluid.optimizer.AdadeltaOptimizer, {"epsilon": "epsilon", "rho": "rho"}),
    "adam": (fluid.optimizer.AdamOptimizer, {"beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}),
    "adamax": (fluid.optimizer.AdamaxOptimizer, {"beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}),
    "rmsprop": (
        fluid.optimizer.RMSPropOptimizer,
        {"rho": "rho", "epsilon": "epsilon", "momentum": "momentum", "centered": "centered"},
    ),
    "ftrl": (fluid.optimizer.FtrlOptimizer, {"l1": "l1", "l2": "l2", "lr_power": "lr_power"}),
    "lamb": (
        fluid.optimizer.LambOptimizer,
        {"lamb_weight_decay": "lamb_weight_decay", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"},
    ),
}
"""Class, and the documented hyperparameter that each argument is given."""

FLOAT32_ALONE = ("decayed_adagrad", "rmsprop", "ftrl")


class Fluid:
    """Every rule that fluid has a kernel for."""

    name, version = "fluid", paddle.__version__
    dtypes = ("float32", "float64")
    cannot = ("0-d parameters", "empty parameters")  # its tensors have at least one axis and one element

    def unsupported(self, optimizer, hyper, dtype):
        if optimizer not in OPTIMIZERS:
            return "fluid has no " + optimizer
        if dtype == "float64" and optimizer in FLOAT32_ALONE:
            return "fluid has no kernel for float64"
        return None

    def start(self, optimizer, hyper, parameters):
        return Run(optimizer, hyper, parameters)


class Run:
    """One program for each parameter, so that one without gradient can be left out."""

    def __init__(self, optimizer, hyper, parameters):
        self.updates = [Update(optimizer, hyper, parameter) for parameter in parameters]

    def step(self, grads, learning_rate):
        pairs = zip(self.updates, grads)
        return [update.value() if grad is None else update.step(grad, learning_rate) for update, grad in pairs]


class Update:
    """An optimizer's program for one parameter, run in a scope of its own."""

    def __init__(self, optimizer, hyper, parameter):
        cls, arguments = OPTIMIZERS[optimizer]
        self.scope, self.program, start = fluid.Scope(), fluid.Program(), fluid.Program()
        self.executor = fluid.Executor(fluid.CPUPlace())
        kind, shape = parameter.dtype.name, list(parameter.shape)
        with fluid.program_guard(self.program, start), fluid.unique_name.guard():
            weight = fluid.layers.create_parameter(shape, kind, name="weight")
            grad = fluid.data("grad", shape, kind)
            rate = fluid.layers.create_global_var([1], 0.0, kind, persistable=True, name="rate")
            keywords = {argument: hyper[name] for argument, name in arguments.items()}
            cls(learning_rate=rate, **keywords).apply_gradients([(weight, grad)])
        with fluid.scope_guard(self.scope):
            self.executor.run(start)
        self.kind = parameter.dtype
        self.put("weight", parameter)

    def put(self, name, array):
        self.scope.find_var(name).get_tensor().set(array, fluid.CPUPlace())

    def value(self):
        return np.array(self.scope.find_var("weight").get_tensor())

    def step(self, grad, learning_rate):
        self.put("rate", np.array([learning_rate], self.kind))
        with fluid.scope_guard(self.scope):
            self.executor.run(self.program, feed={"grad": grad}, fetch_list=[])
        return self.value()
