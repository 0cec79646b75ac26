"""VIABEL: variational inference in autograd's NumPy, with stochastic optimizers of its own."""

from __future__ import annotations

import sys
from types import ModuleType

from examples.field.helpers import Library, OnePerParameter, without_init

# The package imports a compiler of models that none of its optimizers uses.
without_init("viabel")
sys.modules["pystan"] = ModuleType("pystan")

from viabel.optimization import Adagrad, Adam, RMSProp  # noqa: E402


class Parameter:
    """One parameter and its optimizer, whose loop subtracts the scaled direction."""

    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer = parameter, optimizer

    def step(self, grad, learning_rate):
        self.parameter = self.parameter - learning_rate * self.optimizer.descent_direction(grad)
        return self.parameter


def each(parameters, kind, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, kind(1.0, **numbers)), parameters)


def adagrad(hyper, parameters):
    return each(parameters, Adagrad, jitter=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, RMSProp, beta=hyper["decay"], jitter=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, RMSProp, beta=hyper["rho"], jitter=hyper["epsilon"])


def adam(hyper, parameters):
    return each(parameters, Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], jitter=hyper["epsilon"])


class Target(Library):
    distribution = "viabel"
    rules = {"adagrad": adagrad, "decayed_adagrad": decayed_adagrad, "rmsprop": rmsprop, "adam": adam}
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
    }
