"""SmallPebble: a library in NumPy; an optimizer updates a list of variables with a table of their gradients."""

from __future__ import annotations

import numpy as np
import smallpebble

from examples.field.helpers import Library


class Run:
    """Variables, and a function that does one training step of some."""

    def __init__(self, parameters, train):
        self.variables, self.train = [smallpebble.Variable(x.copy()) for x in parameters], train

    def step(self, grads, learning_rate):
        grad_of = {x: grad.copy() for x, grad in zip(self.variables, grads, strict=True) if grad is not None}
        self.train(list(grad_of), grad_of, learning_rate)
        return [np.array(variable.array) for variable in self.variables]


def sgd(hyper, parameters):
    return Run(parameters, smallpebble.sgd_step)


def adam(hyper, parameters):
    optimizer = smallpebble.Adam(beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])

    def train(variables, gradients, learning_rate):
        optimizer.alpha = learning_rate
        optimizer.training_step(variables, gradients)

    return Run(parameters, train)


class Target(Library):
    distribution = "smallpebble"
    rules = {"sgd": sgd, "adam": adam}
