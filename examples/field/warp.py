"""Warp: kernels written in Python, for simulation and graphics, which are compiled for the processor here."""

from __future__ import annotations

import numpy as np
import warp
from warp.optim import SGD, Adam

from examples.field.helpers import Library, OnePerParameter

warp.config.quiet = True


class Parameter:
    """One parameter as an array of one axis, and its optimizer, which cannot skip a missing gradient."""

    def __init__(self, make, parameter):
        self.shape, self.weights = parameter.shape, warp.array(parameter.ravel(), dtype=float)
        self.optimizer = make([self.weights])

    def step(self, grad, learning_rate):
        self.optimizer.lr = learning_rate
        self.optimizer.step([warp.array(grad.ravel(), dtype=float)])
        return np.array(self.weights.numpy()).reshape(self.shape)


def each(make, parameters):
    return OnePerParameter(lambda parameter: Parameter(make, parameter), parameters)


def sgd(hyper, parameters):
    return each(SGD, parameters)


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["use_nesterov"]}
    return each(lambda arrays: SGD(arrays, **numbers), parameters)


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "weight_decay", "nesterov")}
    return each(lambda arrays: SGD(arrays, **numbers), parameters)


def with_epsilon(hyper, parameters, eps):
    return each(lambda arrays: Adam(arrays, betas=(hyper["beta1"], hyper["beta2"]), eps=eps), parameters)


def adam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["epsilon"])


def torch_adam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["eps"])


class Target(Library):
    distribution = "warp-lang"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
    }
    pinned = {
        "torch.sgd": {"maximize": False},
        "torch.adam": {"weight_decay": 0.0, "amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
    }
