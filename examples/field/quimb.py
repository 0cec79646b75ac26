"""quimb: optimizers of tensor networks, called as methods of `scipy.optimize.minimize`; each keeps its state."""

from __future__ import annotations

import numpy as np
from quimb.tensor.optimize import ADAM, RMSPROP, SGD

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter and its optimizer."""

    def __init__(self, parameter, optimizer, numbers):
        self.parameter, self.optimizer, self.numbers = parameter, optimizer, numbers

    def step(self, grad, learning_rate):
        result = self.optimizer(
            lambda x: 0.0, self.parameter, lambda x: grad, learning_rate=learning_rate, maxiter=1, **self.numbers
        )
        self.parameter = np.asarray(result.x)
        return self.parameter


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(), numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, SGD, mass=0.0)


def momentum(hyper, parameters):
    return each(parameters, SGD, mass=hyper["momentum"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, RMSPROP, gamma=hyper["decay"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return each(parameters, ADAM, beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "quimb"
    rules = {"sgd": sgd, "momentum": momentum, "decayed_adagrad": decayed_adagrad, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}
