"""Foolbox: attacks on neural networks, of which those by gradients move the input with one of two optimizers."""

from __future__ import annotations

import eagerpy
import torch
from foolbox.attacks.gradient_descent_base import AdamOptimizer, GDOptimizer

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One input, which moves as it does in an attack that has a target class."""

    def __init__(self, parameter, cls, **numbers):
        self.x = eagerpy.astensor(torch.tensor(parameter))
        self.optimizer = cls(self.x, 1.0, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.stepsize = learning_rate
        self.x = self.x + -1.0 * self.optimizer(eagerpy.astensor(torch.tensor(grad)))
        return self.x.numpy()


def sgd(hyper, parameters):
    return OnePerParameter(lambda parameter: Parameter(parameter, GDOptimizer), parameters)


def adam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return OnePerParameter(lambda parameter: Parameter(parameter, AdamOptimizer, **numbers), parameters)


class Target(Library):
    distribution = "foolbox"
    rules = {"sgd": sgd, "adam": adam}
