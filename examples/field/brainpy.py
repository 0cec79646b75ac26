"""BrainPy: a library on JAX, without float64 by default; an optimizer has the variables that it trains."""

from __future__ import annotations

import brainpy.math as bm
import jax.numpy as jnp
import numpy as np
from brainpy import optim

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter."""

    def __init__(self, parameter, cls, **numbers):
        self.variable = bm.Variable(jnp.array(parameter))
        self.optimizer = cls(lr=1.0, train_vars={"parameter": self.variable}, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.lr.set_value(learning_rate)
        self.optimizer.update({"parameter": jnp.array(grad)})
        return np.array(self.variable.value)


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, **numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, optim.SGD)


def momentum(hyper, parameters):
    cls = optim.MomentumNesterov if hyper["use_nesterov"] else optim.Momentum
    return each(parameters, cls, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, optim.Adagrad, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, optim.RMSProp, rho=hyper["decay"], epsilon=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, optim.RMSProp, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(parameters, optim.Adadelta, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return each(parameters, optim.Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])


def lars_momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "tc": hyper["lars_coeff"], "weight_decay": hyper["lars_weight_decay"]}
    return each(parameters, optim.LARS, **numbers)


class Target(Library):
    distribution = "brainpy"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "lars_momentum": lars_momentum,
    }
    pinned = {"adagrad": {"initial_accumulator_value": 0.0}, "rmsprop": {"centered": False, "momentum": 0.0}}
