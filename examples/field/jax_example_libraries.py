"""JAX' own example of a library of optimizers; JAX' default configuration has no float64."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter, its state, and the count of its steps from 0; the step size is a schedule."""

    def __init__(self, parameter, make, numbers):
        self.optimizer = make(lambda i: self.rate, **numbers)
        self.state, self.count, self.rate = self.optimizer.init_fn(jnp.array(parameter)), 0, 0.0

    def step(self, grad, learning_rate):
        self.rate = learning_rate
        self.state = self.optimizer.update_fn(self.count, jnp.array(grad), self.state)
        self.count += 1
        return np.array(self.optimizer.params_fn(self.state))


def each(parameters, make, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, make, numbers), parameters)


def sgd(hyper, parameters):
    make = optimizers.nesterov if hyper["nesterov"] else optimizers.momentum
    return each(parameters, make, mass=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, optimizers.adagrad, momentum=0.0)


def rmsprop(hyper, parameters):
    numbers = {"gamma": hyper["alpha"], "eps": hyper["eps"]}
    return each(parameters, optimizers.rmsprop_momentum, momentum=hyper["momentum"], **numbers)


def adam(hyper, parameters):
    return each(parameters, optimizers.adam, b1=hyper["beta1"], b2=hyper["beta2"], eps=hyper["epsilon"])


def adamax(hyper, parameters):
    return each(parameters, optimizers.adamax, b1=hyper["beta1"], b2=hyper["beta2"], eps=hyper["eps"])


class Target(Library):
    distribution = "jax"
    dtypes = ("float32",)
    rules = {
        "torch.sgd": sgd,
        "papers.adagrad": adagrad,
        "torch.rmsprop": rmsprop,
        "papers.adam": adam,
        "torch.adamax": adamax,
    }
    pinned = {
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "maximize": False},
        "papers.adagrad": {"delta": 0.0},
        "torch.rmsprop": {"weight_decay": 0.0, "centered": False, "maximize": False},
        "torch.adamax": {"weight_decay": 0.0, "maximize": False},
    }
