"""Cotangent: a framework in NumPy."""

from __future__ import annotations

from cotangent.core.tensor import Tensor
from cotangent.optim import SGD, Adam, AdamW

from examples.field.helpers import Library


class Run:
    """Parameters and their optimizer."""

    def __init__(self, cls, parameters, **numbers):
        self.parameters = [Tensor(parameter, requires_grad=True) for parameter in parameters]
        self.optimizer = cls(self.parameters, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = None if grad is None else Tensor(grad)
        self.optimizer.step()
        return [parameter.data.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Run(SGD, parameters)


def momentum(hyper, parameters):
    return Run(SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adam(hyper, parameters):
    return Run(Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def torch_adamw(hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(AdamW, parameters, betas=(hyper["beta1"], hyper["beta2"]), **numbers)


class Target(Library):
    distribution = "cotangent"
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam, "papers.adam": adam, "torch.adamw": torch_adamw}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
