"""Ivy: optimizers over containers of arrays, here with its backend of NumPy; a step needs every gradient."""

from __future__ import annotations

import ivy
import numpy as np

from examples.field.helpers import Library


class Run:
    """A container of variables, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        ivy.set_backend("numpy")
        self.learning_rate = 1.0
        self.variables = self.container(parameters)
        self.optimizer = cls(lr=lambda: self.learning_rate, **numbers)

    def container(self, arrays):
        return ivy.Container({f"v{i:04}": ivy.array(array.copy()) for i, array in enumerate(arrays)})

    def step(self, grads, learning_rate):
        self.learning_rate = learning_rate
        self.variables = self.optimizer.step(self.variables, self.container(grads))
        return [np.array(variable.data) for _, variable in sorted(self.variables.items())]


def sgd(hyper, parameters):
    return Run(parameters, ivy.SGD)


def adam(hyper, parameters):
    return Run(parameters, ivy.Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


def lamb(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, ivy.LAMB, decay_lambda=hyper["lamb_weight_decay"], **numbers)


class Target(Library):
    distribution = "ivy"
    dtypes = ("float64",)  # beside float32 LAMB returns float64
    cannot = ("missing gradients", "empty parameters")
    rules = {"sgd": sgd, "adam": adam, "lamb": lamb}
