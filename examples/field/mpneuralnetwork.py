"""MPNeuralNetwork: a framework in NumPy for teaching, whose states are float32."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from mpneuralnetwork.optimizers import SGD, Adam, Optimizer, RMSprop

from examples.field.helpers import Gradients, Library, OnePerParameter


class Layer:
    """The weights of one layer and an optimizer; what has no axis has one here, without which a buffer is a scalar."""

    def __init__(self, parameter, optimizer):
        self.shape, self.weights, self.optimizer = parameter.shape, np.atleast_1d(parameter), optimizer

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate = learning_rate
        self.optimizer.step([SimpleNamespace(params={"weights": (self.weights, np.atleast_1d(grad))})])
        return self.weights.reshape(self.shape).copy()


def each(cls, hyper, parameters, **numbers):
    numbers["weight_decay"] = hyper.get("weight_decay", 0.0)
    return OnePerParameter(lambda parameter: Layer(parameter, cls(**numbers)), parameters)


def torch_sgd(hyper, parameters):
    return each(SGD, hyper, parameters, momentum=hyper["momentum"])


def torch_rmsprop(hyper, parameters):
    return each(RMSprop, hyper, parameters, decay_rate=hyper["alpha"], epsilon=hyper["eps"])


def adam(hyper, parameters):
    return each(Adam, hyper, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return each(Adam, hyper, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["eps"])


def l1_decay(hyper, parameters):
    optimizer, given = Optimizer(0.0, "L1", hyper["regularization_coeff"]), [p.copy() for p in parameters]

    def regularized(grads):
        return [grad + optimizer.apply_regularization("weights", p) for grad, p in zip(grads, given, strict=True)]

    return Gradients(regularized)


class Target(Library):
    distribution = "mpneuralnetwork"
    dtypes = ("float32",)
    rules = {
        "torch.sgd": torch_sgd,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
    }
    wrappers = {"l1_decay": l1_decay}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.rmsprop": {"momentum": 0.0, "centered": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
