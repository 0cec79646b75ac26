"""MyNN: optimizers over tensors of MyGrad."""

from __future__ import annotations

import mygrad
from mynn import optimizers

from examples.field.helpers import Library


class Model:
    """All parameters under one optimizer; the loss is linear, so that its gradient is the one that is given."""

    def __init__(self, cls, parameters, learning_rate="learning_rate", **numbers):
        self.parameters = [mygrad.tensor(parameter.copy()) for parameter in parameters]
        self.optimizer = cls(self.parameters, **numbers)
        self.learning_rate = learning_rate

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.null_grad()
            if grad is not None:
                mygrad.sum(parameter * grad).backward()
        if self.learning_rate:
            setattr(self.optimizer, self.learning_rate, learning_rate)
        self.optimizer.step()
        return [parameter.data.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Model(optimizers.SGD, parameters)


def momentum(hyper, parameters):
    return Model(optimizers.SGD, parameters, momentum=hyper["momentum"])


def adadelta(hyper, parameters):
    # It has no learning rate.
    return Model(optimizers.Adadelta, parameters, learning_rate=None, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Model(optimizers.Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])


def adamax(hyper, parameters):
    return Model(optimizers.AdaMax, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "mynn"
    rules = {"sgd": sgd, "momentum": momentum, "adadelta": adadelta, "adam": adam, "adamax": adamax}
    pinned = {"momentum": {"use_nesterov": False}}
