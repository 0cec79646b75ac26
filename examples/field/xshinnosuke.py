"""XShinnosuke: layers and autograd in NumPy, whose optimizers step over a list of variables."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Library

# It was written for NumPy before 1.24, and asks for these names at import.
vars(np).update(int=int, float=float)

from xs.core.base import Tensor  # noqa: E402
from xs.optim import SGD, AdaDelta, AdaGrad, Adam, Momentum, RMSprop  # noqa: E402


class Run:
    """Variables and their optimizer; what has no gradient is frozen."""

    def __init__(self, cls, parameters, **numbers):
        self.variables = [Tensor(parameter.copy(), requires_grad=True) for parameter in parameters]
        self.optimizer = cls(self.variables, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for variable, grad in zip(self.variables, grads, strict=True):
            variable.requires_grad = grad is not None
            variable.grad = np.zeros_like(variable.eval) if grad is None else grad.copy()
        self.optimizer.step()
        return [variable.numpy().copy() for variable in self.variables]


def sgd(hyper, parameters):
    return Run(SGD, parameters)


def momentum(hyper, parameters):
    return Run(Momentum, parameters, rho=hyper["momentum"])


def adagrad(hyper, parameters):
    return Run(AdaGrad, parameters, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return Run(RMSprop, parameters, rho=hyper["decay"], epsilon=hyper["epsilon"])


def averaged(cls):
    def start(hyper, parameters):
        return Run(cls, parameters, rho=hyper["rho"], epsilon=hyper["epsilon"])

    return start


def adam(hyper, parameters):
    return Run(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


def torch_adam(hyper, parameters):
    numbers = {"epsilon": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], **numbers)


class Target(Library):
    distribution = "xshinnosuke"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": averaged(RMSprop),
        "adadelta": averaged(AdaDelta),
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
    }
    cannot = {"0-d parameters"}  # a variable is set through a slice
