"""Kerze: tensors and autograd over lists of Python's numbers, which are float64."""

from __future__ import annotations

import numpy as np
from kerze.ndarray import Array
from kerze.nn.parameter import Parameter
from kerze.optim import SGD, Adam

from examples.field.helpers import Library


class Run:
    """Parameters and their optimizer."""

    def __init__(self, cls, parameters, **numbers):
        self.parameters = [Parameter(self.array(parameter)) for parameter in parameters]
        self.optimizer = cls(self.parameters, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = None if grad is None else self.array(grad)
        self.optimizer.step()
        return [
            np.array(parameter.data.data, dtype=np.float64).reshape(parameter.shape) for parameter in self.parameters
        ]

    def array(self, values):
        return Array(values.ravel().tolist(), shape=values.shape)


def sgd(hyper, parameters):
    return Run(SGD, parameters)


def momentum(hyper, parameters):
    return Run(SGD, parameters, momentum=hyper["momentum"])


def adam(hyper, parameters):
    return Run(Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


class Target(Library):
    distribution = "kerze"
    dtypes = ("float64",)
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam, "papers.adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}

    def refusal(self, subject, hyper):
        # Python's numbers raise where they are divided by 0.
        return None if hyper.get("epsilon", 1.0) > 0 else "an element without gradients would be divided by 0"
