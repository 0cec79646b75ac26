"""evosax: optimizers of evolution strategies on JAX, each for one vector; without float64 by default."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from evosax.core import optimizer

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter as a vector."""

    def __init__(self, parameter, cls, **numbers):
        self.mean, self.shape = jnp.array(parameter.ravel()), parameter.shape
        self.optimizer = cls(parameter.size)
        self.numbers = self.optimizer.default_params.replace(lrate_init=1.0, **numbers)
        self.state = self.optimizer.initialize(self.numbers)

    def step(self, grad, learning_rate):
        state = self.state.replace(lrate=learning_rate)
        self.mean, self.state = self.optimizer.step(self.mean, jnp.array(grad.ravel()), state, self.numbers)
        return np.array(self.mean).reshape(self.shape)


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, **numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, optimizer.SGD, momentum=0.0)


def momentum(hyper, parameters):
    return each(parameters, optimizer.SGD, momentum=hyper["momentum"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, optimizer.RMSProp, momentum=0.0, beta_1=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "beta_1": hyper["rho"], "eps": hyper["epsilon"]}
    return each(parameters, optimizer.RMSProp, **numbers)


def adam(hyper, parameters):
    return each(parameters, optimizer.Adam, beta_1=hyper["beta1"], beta_2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "evosax"
    dtypes = ("float32",)
    rules = {"sgd": sgd, "momentum": momentum, "decayed_adagrad": decayed_adagrad, "rmsprop": rmsprop, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}, "rmsprop": {"centered": False}}
