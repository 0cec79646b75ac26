"""numpy-ml: machine learning in NumPy; its optimizers know parameters by name."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Hashable

from examples.field.helpers import Library

collections.Hashable = Hashable  # numpy-ml 0.1 asks for it; Python 3.11 has none

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what its environments for reinforcement learning lack
    from numpy_ml.neural_nets.optimizers import SGD, AdaGrad, Adam, RMSProp


class Run:
    """Parameters, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.parameters = [parameter.copy() for parameter in parameters]
        self.optimizer = cls(lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr_scheduler.lr = learning_rate
        for i, grad in enumerate(grads):
            if grad is not None:
                self.parameters[i] = self.optimizer.update(self.parameters[i], grad.copy(), str(i))
        return [parameter.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Run(parameters, SGD, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return Run(parameters, AdaGrad, eps=hyper["delta"])


def rmsprop(hyper, parameters):
    return Run(parameters, RMSProp, decay=hyper["alpha"], eps=hyper["eps"])


def adam(hyper, parameters):
    return Run(parameters, Adam, decay1=hyper["beta1"], decay2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "numpy-ml"
    rules = {"torch.sgd": sgd, "papers.adagrad": adagrad, "torch.rmsprop": rmsprop, "papers.adam": adam}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False, "maximize": False},
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False},
    }
