"""PyMC: update expressions of PyTensor, which began in Lasagne; they are compiled over shared variables."""

from __future__ import annotations

from functools import cache

import numpy as np
import pymc
import pytensor
import pytensor.tensor as pt

from examples.field.helpers import Gradients, Library, OnePerParameter


@cache
def compiled(rule, names, ndim, dtype):
    """Compile a rule once for each number of dimensions, as the hyperparameters may be symbolic.

    Returns:
        the function of gradient, learning rate and hyperparameters, and the shared variables, the parameter first.
    """
    with pytensor.config.change_flags(floatX=dtype):
        parameter = pytensor.shared(np.zeros((1,) * ndim, dtype), shape=(None,) * ndim)
        grad, learning_rate = parameter.type(), pt.scalar(dtype=dtype)
        numbers = [pt.scalar(name, dtype=dtype) for name in names]
        updates = rule([grad], [parameter], learning_rate=learning_rate, **dict(zip(names, numbers, strict=True)))
        function = pytensor.function([grad, learning_rate, *numbers], updates=updates)
    return function, [parameter, *(shared for shared in updates if shared is not parameter)]


class Parameter:
    """One parameter and its state, which the compiled function holds during a step."""

    def __init__(self, parameter, rule, numbers):
        self.dtype = parameter.dtype
        self.numbers = [np.asarray(number, self.dtype) for number in numbers.values()]
        self.function, self.shared = compiled(rule, tuple(numbers), parameter.ndim, str(self.dtype))
        state = [np.zeros(parameter.shape if x.type.ndim == parameter.ndim else (), x.dtype) for x in self.shared[1:]]
        self.values = [parameter, *state]

    def step(self, grad, learning_rate):
        for shared, value in zip(self.shared, self.values, strict=True):
            shared.set_value(value)
        self.function(grad, np.asarray(learning_rate, self.dtype), *self.numbers)
        self.values = [shared.get_value() for shared in self.shared]
        return self.values[0]


def each(parameters, rule, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, rule, numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, pymc.updates.sgd)


def momentum(hyper, parameters):
    rule = pymc.updates.nesterov_momentum if hyper["use_nesterov"] else pymc.updates.momentum
    return each(parameters, rule, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, pymc.updates.adagrad, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, pymc.updates.rmsprop, rho=hyper["decay"], epsilon=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, pymc.updates.rmsprop, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(parameters, pymc.updates.adadelta, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return each(parameters, pymc.updates.adam, **hyper_of_adam(hyper))


def adamax(hyper, parameters):
    return each(parameters, pymc.updates.adamax, **hyper_of_adam(hyper))


def hyper_of_adam(hyper):
    return {name: hyper[name] for name in ("beta1", "beta2", "epsilon")}


@cache
def constraint(max_norm, dimensions, dtype):
    """Compile the clip for a norm, which must be a number; nothing is fused, as that would compile C for each norm."""
    with pytensor.config.change_flags(floatX=dtype):
        grads = [pt.tensor(dtype=dtype, shape=(None,) * ndim) for ndim in dimensions]
        clipped = pymc.updates.total_norm_constraint(grads, max_norm)
        return pytensor.function(grads, clipped, mode=pytensor.compile.Mode("cvm", "fast_compile"))


def clip_by_global_norm(hyper, parameters):
    dimensions = tuple(parameter.ndim for parameter in parameters)
    function = constraint(hyper["clip_norm"], dimensions, str(parameters[0].dtype))
    return Gradients(lambda grads: function(*grads))


class Target(Library):
    distribution = "pymc"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "adamax": adamax,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
    }
