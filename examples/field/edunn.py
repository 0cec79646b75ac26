"""edunn: a library of NumPy to teach with; its optimizers are given a model and its gradients by name."""

from __future__ import annotations

from edunn import optimizer as kinds

from examples.field.helpers import Library


class Run:
    """Parameters by name, as a model has them."""

    def __init__(self, optimizer, parameters):
        self.optimizer = optimizer
        self.parameters = {f"p{i}": parameter.copy() for i, parameter in enumerate(parameters)}
        self.steps = 0

    def get_parameters(self):
        return self.parameters

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        given = {name: grad.copy() for name, grad in zip(self.parameters, grads, strict=True) if grad is not None}
        self.optimizer.optimize_batch(self, given, 0, self.steps)
        self.steps += 1
        return [parameter.copy() for parameter in self.parameters.values()]


def sgd(hyper, parameters):
    return Run(kinds.GradientDescent(1, 1), parameters)


def momentum(hyper, parameters):
    kind = kinds.NesterovMomentumGD if hyper["use_nesterov"] else kinds.MomentumGD
    return Run(kind(1, 1, gamma=hyper["momentum"]), parameters)


def signum(hyper, parameters):
    return Run(kinds.SignGD(1, 1), parameters)


class Target(Library):
    distribution = "edunn"
    cannot = ("0-d parameters",)
    rules = {"sgd": sgd, "momentum": momentum, "papers.signum": signum}
    pinned = {"papers.signum": {"beta": 0.0}}
