"""Ivy: one interface to several frameworks, here to NumPy; its LARS has neither a coefficient nor momentum."""

from __future__ import annotations

import ivy
import numpy as np

from examples.field.helpers import Library, OnePerParameter

ivy.set_backend("numpy")


class Parameter:
    """One parameter; the learning rate is a function that returns the one given last."""

    def __init__(self, parameter, cls, **numbers):
        self.weights = ivy.Container({"parameter": ivy.array(parameter)})
        self.optimizer = cls(lr=lambda: self.learning_rate, stop_gradients=False, **numbers)

    def step(self, grad, learning_rate):
        self.learning_rate = learning_rate
        self.weights = self.optimizer.step(self.weights, ivy.Container({"parameter": ivy.array(grad)}))
        return np.array(ivy.to_numpy(self.weights["parameter"]))


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, **numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, ivy.SGD)


def lars_momentum(hyper, parameters):
    return each(parameters, ivy.LARS)


def adam(hyper, parameters):
    return each(parameters, ivy.Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


def lamb(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return each(parameters, ivy.LAMB, **numbers, decay_lambda=hyper["lamb_weight_decay"])


class Target(Library):
    distribution = "ivy"
    rules = {"sgd": sgd, "lars_momentum": lars_momentum, "adam": adam, "lamb": lamb}
    pinned = {"lars_momentum": {"momentum": 0.0, "lars_coeff": 1.0, "lars_weight_decay": 0.0}}
