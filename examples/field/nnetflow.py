"""nnetflow: a library in NumPy with tensors of its own; one without a gradient is passed over."""

from __future__ import annotations

from nnetflow.engine import Tensor
from nnetflow.optim import SGD, Adam

from examples.field.helpers import Library


class Run:
    """Tensors, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.tensors = [Tensor(x.copy(), requires_grad=True) for x in parameters]
        self.optimizer = cls(self.tensors, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for tensor, grad in zip(self.tensors, grads, strict=True):
            tensor.grad = None if grad is None else grad.copy()
        self.optimizer.step()
        return [tensor.data.copy() for tensor in self.tensors]


def sgd(hyper, parameters):
    return Run(parameters, SGD)


def momentum(hyper, parameters):
    return Run(parameters, SGD, momentum=hyper["momentum"])


def adam(hyper, parameters):
    return Run(parameters, Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "nnetflow"
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}
