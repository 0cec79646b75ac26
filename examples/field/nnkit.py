"""nnkit: optimizers in NumPy whose numbers are attributes, and which take every gradient."""

from __future__ import annotations

from functools import partial

import numpy as np
from nnkit import NetVar
from nnkit import optimization as kinds

from examples.field.helpers import Library, one_each


class Parameter:
    def __init__(self, kind, numbers, parameter):
        self.variable = NetVar(parameter)
        self.optimizer = kind([self.variable])
        vars(self.optimizer).update(numbers)

    def step(self, grad, learning_rate):
        self.optimizer.learnRate, self.variable.g = learning_rate, grad
        self.optimizer.step()
        return np.array(self.variable.data, "float32").reshape(grad.shape)


class Target(Library):
    distribution = "nnkit"
    dtypes = ("float32",)
    rules = {
        "momentum": one_each(partial(Parameter, kinds.GD), momentum="momentum"),
        "adam": one_each(partial(Parameter, kinds.Adam), momentum="beta1", rms="beta2"),
    }
    pinned = {"momentum": {"use_nesterov": False}, "adam": {"epsilon": 1e-8}}
