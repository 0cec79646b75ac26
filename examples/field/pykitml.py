"""pykitml: a library in NumPy; each parameter of a layer has an optimizer of its own. Epsilon cannot be given."""

from __future__ import annotations

import numpy as np
from pykitml import optimizers

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter and its optimizer."""

    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer = parameter, optimizer

    def step(self, grad, learning_rate):
        self.optimizer._mlearning_rate = learning_rate
        self.parameter = np.asarray(self.optimizer._optimize(self.parameter, grad))
        return self.parameter


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(1.0, **numbers)), parameters)


def sgd(hyper, parameters):
    return each(parameters, optimizers.GradientDescent)


def momentum(hyper, parameters):
    cls = optimizers.Nesterov if hyper["use_nesterov"] else optimizers.Momentum
    return each(parameters, cls, beta=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, optimizers.Adagrad)


def decayed_adagrad(hyper, parameters):
    return each(parameters, optimizers.RMSprop, beta=hyper["decay"])


def adam(hyper, parameters):
    return each(parameters, optimizers.Adam, beta1=hyper["beta1"], beta2=hyper["beta2"])


class Target(Library):
    distribution = "pykitml"
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "decayed_adagrad": decayed_adagrad, "adam": adam}
    pinned = {"adagrad": {"initial_accumulator_value": 0.0}}
