"""NumPyro: triples of functions on JAX; JAX' default configuration has no float64."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpyro import optim

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter; the learning rate is a schedule that returns the one given last."""

    def __init__(self, parameter, cls, *numbers):
        self.learning_rate = 0.0
        self.optimizer = cls(lambda step: self.learning_rate, *numbers)
        self.state = self.optimizer.init(jnp.array(parameter))

    def step(self, grad, learning_rate):
        self.learning_rate = learning_rate
        self.state = self.optimizer.update(jnp.array(grad), self.state)
        return np.array(self.optimizer.get_params(self.state))


def each(parameters, cls, *numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, *numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, optim.SGD)


def momentum(hyper, parameters):
    return each(parameters, optim.Momentum, hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, optim.Adagrad, 0.0)  # without momentum; it has no epsilon


def decayed_adagrad(hyper, parameters):
    return each(parameters, optim.RMSProp, hyper["decay"], hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, optim.RMSPropMomentum, hyper["rho"], hyper["epsilon"], hyper["momentum"])


def adam(hyper, parameters):
    return each(parameters, optim.Adam, hyper["beta1"], hyper["beta2"], hyper["epsilon"])


class Target(Library):
    distribution = "numpyro"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
    }

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "Momentum has no Nesterov momentum"
        if hyper.get("initial_accumulator_value"):
            return "Adagrad starts at 0"
        if hyper.get("centered"):
            return "RMSPropMomentum is not centered"
        return None
