"""NpDL: optimizers in NumPy, of a library of layers that follows one data type everywhere."""

from __future__ import annotations

from npdl import optimizers
from npdl.utils.random import set_dtype

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One array and its optimizer."""

    def __init__(self, parameter, cls, numbers):
        self.parameter, self.optimizer = parameter, cls(**numbers)

    def step(self, grad, learning_rate):
        set_dtype(self.parameter.dtype.name)
        self.optimizer.lr = learning_rate
        self.optimizer.update([self.parameter], [grad])
        return self.parameter


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, optimizers.SGD)


def momentum(hyper, parameters):
    cls = optimizers.NesterovMomentum if hyper["use_nesterov"] else optimizers.Momentum
    return each(parameters, cls, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, optimizers.Adagrad, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, optimizers.RMSprop, rho=hyper["decay"], epsilon=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, optimizers.RMSprop, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(parameters, optimizers.Adadelta, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adam_like(cls):
    def start(hyper, parameters):
        numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
        return each(parameters, cls, **numbers)

    return start


class Target(Library):
    distribution = "npdl"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam_like(optimizers.Adam),
        "papers.adam": adam_like(optimizers.Adam),
        "adamax": adam_like(optimizers.Adamax),
    }
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
    }
