"""nanotorch: a small framework over NumPy, whose only optimizer takes every gradient."""

from __future__ import annotations

from types import SimpleNamespace

from nanotorch.optim import SGD

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    def __init__(self, parameter, momentum):
        self.tensor = SimpleNamespace(data=parameter, grad=0.0)
        self.optimizer = SGD([self.tensor], momentum=momentum)

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.tensor.grad = learning_rate, grad
        self.optimizer.step()
        return self.tensor.data.copy()


def sgd(hyper, parameters):
    return OnePerParameter(lambda parameter: Parameter(parameter, hyper.get("momentum", 0.0)), parameters)


class Target(Library):
    distribution = "nanotorch"
    rules = {"sgd": sgd, "momentum": sgd}
    pinned = {"momentum": {"use_nesterov": False}}
