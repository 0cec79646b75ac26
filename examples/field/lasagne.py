"""Lasagne: updates of Theano's shared variables, which are all that it has of an optimizer; loops in Python.

Each function makes a graph of its updates, in which hyperparameters are constants. All parameters have gradients.
"""

from __future__ import annotations

import os

os.environ["THEANO_FLAGS"] = "linker=py,optimizer=fast_compile"

from examples.field.helpers import Gradients, Library, without_init

without_init("lasagne")  # its layers import what Theano has no more

import lasagne.updates as updates  # noqa: E402
import numpy as np  # noqa: E402
import theano  # noqa: E402
from theano import tensor  # noqa: E402


def variables(arrays):
    """Return one variable for each array, in whose dtype constants are taken from here on."""
    theano.config.floatX = str(arrays[0].dtype)
    return [tensor.TensorType(array.dtype, (False,) * array.ndim)() for array in arrays]


class Training:
    """Shared variables, and the compiled function that updates them."""

    def __init__(self, made, parameters):
        grads, rate = variables(parameters), tensor.TensorType(parameters[0].dtype, ())()
        self.shared = [theano.shared(parameter.copy()) for parameter in parameters]
        self.updated = theano.function([*grads, rate], [], updates=made(grads, self.shared, rate))

    def step(self, grads, learning_rate):
        self.updated(*grads, np.asarray(learning_rate, grads[0].dtype))
        return [parameter.get_value() for parameter in self.shared]


def run(parameters, update, **numbers):
    return Training(lambda grads, shared, rate: update(grads, shared, rate, **numbers), parameters)


def sgd(hyper, parameters):
    return run(parameters, updates.sgd)


def momentum(hyper, parameters):
    kind = updates.nesterov_momentum if hyper["use_nesterov"] else updates.momentum
    return run(parameters, kind, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return run(parameters, updates.adagrad, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return run(parameters, updates.rmsprop, rho=hyper["decay"], epsilon=hyper["epsilon"])


def torch_adagrad(hyper, parameters):
    return run(parameters, updates.adagrad, epsilon=hyper["eps"])


def papers_adagrad(hyper, parameters):
    return run(parameters, updates.adagrad, epsilon=hyper["delta"])


def torch_rmsprop(hyper, parameters):
    return run(parameters, updates.rmsprop, rho=hyper["alpha"], epsilon=hyper["eps"])


def adadelta(hyper, parameters):
    return run(parameters, updates.adadelta, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    numbers = {name: hyper[name] for name in ("beta1", "beta2", "epsilon")}
    return run(parameters, updates.adam, **numbers)


def clip_by_global_norm(hyper, parameters):
    fed = variables(parameters)
    clipped = theano.function(fed, updates.total_norm_constraint(fed, hyper["clip_norm"]))
    return Gradients(lambda grads: clipped(*grads))


class Target(Library):
    distribution = "lasagne"
    cannot = ("missing gradients",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "adadelta": adadelta,
        "adam": adam,
        "papers.adadelta": adadelta,
        "papers.adagrad": papers_adagrad,
        "papers.adam": adam,
        "torch.adagrad": torch_adagrad,
        "torch.rmsprop": torch_rmsprop,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adagrad": {"lr_decay": 0.0, "initial_accumulator_value": 0.0, "weight_decay": 0.0, "maximize": False},
        "torch.rmsprop": {"momentum": 0.0, "centered": False, "weight_decay": 0.0, "maximize": False},
    }
