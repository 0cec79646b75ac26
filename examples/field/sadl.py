"""SADL: a small framework in NumPy."""

from __future__ import annotations

from collections import OrderedDict

from sadl.optimizer import SGD, Adam
from sadl.tensor import Parameter

from examples.field.helpers import Library, TensorRun


def run(cls, parameters, **numbers):
    named = OrderedDict((str(i), Parameter(parameter.copy())) for i, parameter in enumerate(parameters))
    return TensorRun(cls(named, lr=1.0, **numbers), list(named.values()))


def sgd(hyper, parameters):
    return run(SGD, parameters)


def momentum(hyper, parameters):
    return run(SGD, parameters, friction=1 - hyper["momentum"])


def torch_sgd(hyper, parameters):
    return run(SGD, parameters, friction=1 - hyper["momentum"], weight_decay=hyper["weight_decay"])


def with_epsilon(hyper, parameters, epsilon, **numbers):
    betas = {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}
    return run(Adam, parameters, **betas, epsilon=epsilon, **numbers)


def adam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["eps"], weight_decay=hyper["weight_decay"])


class Target(Library):
    distribution = "py-sadl"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
