"""Sonnet: a library of TensorFlow; an optimizer is applied to gradients and variables, and skips None."""

from __future__ import annotations

import numpy as np
import sonnet
import tensorflow as tf

from examples.field.helpers import Average, Library


class Run:
    """Variables, and one optimizer of all of them."""

    def __init__(self, optimizer, parameters):
        self.optimizer, self.variables = optimizer, [tf.Variable(parameter) for parameter in parameters]

    def step(self, grads, learning_rate):
        self.optimizer.learning_rate = learning_rate
        if all(grad is None for grad in grads):  # which Sonnet refuses
            return [np.array(variable.numpy()) for variable in self.variables]
        self.optimizer.apply([None if grad is None else tf.constant(grad) for grad in grads], self.variables)
        return [np.array(variable.numpy()) for variable in self.variables]


def sgd(hyper, parameters):
    return Run(sonnet.optimizers.SGD(1.0), parameters)


def momentum(hyper, parameters):
    optimizer = sonnet.optimizers.Momentum(1.0, hyper["momentum"], use_nesterov=hyper["use_nesterov"])
    return Run(optimizer, parameters)


def decayed_adagrad(hyper, parameters):
    return Run(sonnet.optimizers.RMSProp(1.0, decay=hyper["decay"], epsilon=hyper["epsilon"]), parameters)


def rmsprop(hyper, parameters):
    numbers = {"decay": hyper["rho"], "momentum": hyper["momentum"], "epsilon": hyper["epsilon"]}
    return Run(sonnet.optimizers.RMSProp(1.0, centered=hyper["centered"], **numbers), parameters)


def adam(hyper, parameters):
    return Run(sonnet.optimizers.Adam(1.0, hyper["beta1"], hyper["beta2"], hyper["epsilon"]), parameters)


def exponential_moving_average(hyper, parameters):
    averages = [sonnet.ExponentialMovingAverage(hyper["decay"]) for _ in parameters]

    def update(fed):
        for average, value in zip(averages, fed, strict=True):
            average.update(tf.constant(value))

    return Average(update, lambda: [np.array(average.value.numpy()) for average in averages])


class Target(Library):
    distribution = "dm-sonnet"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
    }
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}
