"""nnkit: optimizers in NumPy whose numbers are attributes, and which take every gradient."""

from __future__ import annotations

import numpy as np
from nnkit import NetVar
from nnkit import optimization as kinds

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    def __init__(self, parameter, kind, numbers):
        self.variable = NetVar(parameter)
        self.optimizer = kind([self.variable])
        vars(self.optimizer).update(numbers)

    def step(self, grad, learning_rate):
        self.optimizer.learnRate, self.variable.g = learning_rate, grad
        self.optimizer.step()
        return np.array(self.variable.data, "float32").reshape(grad.shape)


def run(parameters, kind, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, kind, numbers), parameters)


def momentum(hyper, parameters):
    return run(parameters, kinds.GD, momentum=hyper["momentum"])


def adam(hyper, parameters):
    return run(parameters, kinds.Adam, momentum=hyper["beta1"], rms=hyper["beta2"])


class Target(Library):
    distribution = "nnkit"
    dtypes = ("float32",)
    rules = {"momentum": momentum, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}, "adam": {"epsilon": 1e-8}}
