"""PyDyNet: a PyTorch in NumPy; every parameter has a gradient."""

from __future__ import annotations

import warnings

from examples.field.helpers import Library

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Cupy is not installed")
    from pydynet import Tensor, optim


class Model:
    """All parameters under one optimizer."""

    def __init__(self, cls, parameters, **numbers):
        self.parameters = [Tensor(parameter, dtype=parameter.dtype) for parameter in parameters]
        self.optimizer = cls(self.parameters, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = grad.copy()
        self.optimizer.lr = learning_rate
        self.optimizer.step()
        return [parameter.data.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Model(optim.SGD, parameters, momentum=0.0, nesterov=False)


def momentum(hyper, parameters):
    return Model(optim.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adagrad(hyper, parameters):
    return Model(optim.Adagrad, parameters, eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    return Model(optim.Adadelta, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Model(optim.Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


class Target(Library):
    distribution = "pydynet"
    cannot = ("missing gradients",)
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "adadelta": adadelta, "adam": adam}
    pinned = {"adagrad": {"initial_accumulator_value": 0.0}}
