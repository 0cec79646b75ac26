"""bren: a small library like Keras over NumPy, whose states are float32."""

from __future__ import annotations

import numpy as np
from bren import Constant, Variable
from bren.nn.optimisers import SGD, AdaGrad, Adam, RMSProp

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One variable and its optimizer."""

    def __init__(self, parameter, optimizer):
        self.variable, self.optimizer = Variable(parameter), optimizer
        self.variable.freeze()  # lest NumPy takes a list of it for an array of more dimensions

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate, gradient = learning_rate, Constant(grad)
        gradient.freeze()
        self.optimizer.apply_gradients([self.variable], [gradient])
        return np.array(self.variable.numpy())


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(**numbers)), parameters)


def sgd(hyper, parameters):
    return each(SGD, parameters)


def momentum(hyper, parameters):
    return each(SGD, parameters, beta=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(AdaGrad, parameters, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(RMSProp, parameters, beta=hyper["decay"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return each(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "bren"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "papers.adam": adam,
    }
    pinned = {"momentum": {"use_nesterov": False}, "adagrad": {"initial_accumulator_value": 0.0}}
