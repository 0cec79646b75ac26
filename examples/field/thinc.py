"""Thinc: one optimizer, called with a key for each parameter; Adam is compiled and computes in float32."""

from __future__ import annotations

import numpy as np
from thinc.api import SGD, Adam, NumpyOps, constant

from examples.field.helpers import Average, Gradients, Library

OPS = NumpyOps()


class Run:
    """Thinc takes the length of what it is given, so that a 0-d parameter goes in with one dimension."""

    def __init__(self, optimizer, parameters):
        self.optimizer = optimizer
        self.shapes = [parameter.shape for parameter in parameters]
        self.weights = [np.atleast_1d(parameter.copy()) for parameter in parameters]

    def step(self, grads, learning_rate):
        self.optimizer.learn_rate = constant(learning_rate)
        for i, grad in enumerate(grads):
            if grad is not None:
                self.weights[i], _ = self.optimizer((i, "w"), self.weights[i], np.atleast_1d(grad.copy()))
        return [weights.reshape(shape).copy() for weights, shape in zip(self.weights, self.shapes, strict=True)]


def sgd(hyper, parameters):
    return Run(SGD(1.0, L2=0.0, grad_clip=0.0, use_averages=False), parameters)


def adam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "eps": hyper["epsilon"]}
    return Run(Adam(1.0, **numbers, L2=0.0, grad_clip=0.0, use_averages=False), parameters)


def clip_by_norm(hyper, parameters):
    return Gradients(lambda grads: [OPS.clip_gradient(grad, hyper["clip_norm"]) for grad in grads])


def exponential_moving_average(hyper, parameters):
    averages, updates = [np.zeros_like(parameter) for parameter in parameters], [0]

    def update(fed):
        updates[0] += 1
        for average, weights in zip(averages, fed, strict=True):
            OPS.update_averages(average, weights, updates[0], max_decay=hyper["decay"])

    return Average(update, lambda: [average.copy() for average in averages])


class Target(Library):
    distribution = "thinc"
    dtypes = ("float32",)
    rules = {"sgd": sgd, "adam": adam}
    wrappers = {"clip_by_norm": clip_by_norm, "exponential_moving_average": exponential_moving_average}

    def refusal(self, subject, hyper):
        if subject == "adam" and 0 in (hyper["beta1"], hyper["beta2"]):
            return "beta1 = 0 or beta2 = 0 stands for plain SGD"
        if subject == "exponential_moving_average" and not hyper["scheduled"]:
            return "the decay is always scheduled"
        return None
