"""numpy_nn: one optimizer for all parameters, which calls it for each by its name."""

from __future__ import annotations

import numpy as np
from numpy_nn.optimizers import SGD, Adam, Momentum, RMSProp

from examples.field.helpers import Library


class Training:
    def __init__(self, optimizer, parameters):
        self.optimizer, self.parameters = optimizer, dict(enumerate(map(np.copy, parameters)))
        optimizer.set_parameters(self.parameters)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for name, grad in enumerate(grads):
            if grad is not None:
                self.parameters[name] = np.asarray(self.optimizer(self.parameters[name], grad, name))
        return list(map(np.copy, self.parameters.values()))


def sgd(hyper, parameters):
    return Training(SGD(), parameters)


def momentum(hyper, parameters):
    return Training(Momentum(beta=hyper["momentum"]), parameters)


def decayed_adagrad(hyper, parameters):
    return Training(RMSProp(beta=hyper["decay"], epsilon=hyper["epsilon"]), parameters)


def torch_rmsprop(hyper, parameters):
    return Training(RMSProp(beta=hyper["alpha"], epsilon=hyper["eps"]), parameters)


def adam(hyper, parameters):
    return Training(Adam(beta_1=hyper["beta1"], beta_2=hyper["beta2"], epsilon=hyper["epsilon"]), parameters)


class Target(Library):
    distribution = "numpy_nn"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.rmsprop": {"momentum": 0.0, "centered": False, "weight_decay": 0.0, "maximize": False},
    }
