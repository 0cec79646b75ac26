"""Caspian: a framework in NumPy, whose layers add what their optimizers return."""

from __future__ import annotations

import numpy as np
from caspian.optimizers import ADAM, ADAGrad, Momentum, Nesterov, RMSProp

from examples.field.helpers import Library, OnePerParameter


class Layer:
    """One parameter and the optimizer of its layer, which counts a step when the layer does."""

    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer = parameter, optimizer

    def step(self, grad, learning_rate):
        self.optimizer.learn_rate = learning_rate
        self.parameter = np.asarray(self.parameter + self.optimizer(grad))
        self.optimizer.step()
        return self.parameter.copy()


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Layer(parameter, cls(**numbers)), parameters)


def momentum(hyper, parameters):
    return each(Momentum, parameters, momentum=hyper["momentum"])


def torch_sgd(hyper, parameters):
    return each(Nesterov, parameters, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(ADAGrad, parameters, eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(RMSProp, parameters, decay=hyper["decay"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return each(ADAM, parameters, decay_one=hyper["beta1"], decay_two=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "caspian-ml"
    rules = {
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "adam": adam,
        "papers.adam": adam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "nesterov": True, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
    }
