"""slowgrad: a small framework over NumPy, of whose optimizers one is written."""

from __future__ import annotations

import numpy as np
from slowgrad.optim import SGD
from slowgrad.tensor import Tensor

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    def __init__(self, parameter):
        self.tensor = Tensor(parameter)
        self.optimizer = SGD([self.tensor])

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.tensor.grad = learning_rate, Tensor(grad)
        self.optimizer.step()
        return np.array(self.tensor.data)


def sgd(hyper, parameters):
    return OnePerParameter(Parameter, parameters)


class Target(Library):
    distribution = "slowgrad"
    dtypes = ("float32",)
    rules = {"sgd": sgd}
