"""PennyLane: optimizers of quantum circuits, over its own NumPy arrays."""

from __future__ import annotations

import numpy as np
import pennylane as qml

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter and its optimizer."""

    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer = parameter, optimizer

    def step(self, grad, learning_rate):
        self.optimizer.stepsize = learning_rate
        trained = qml.numpy.array(self.parameter, requires_grad=True)
        (after,) = self.optimizer.apply_grad((grad,), (trained,))
        self.parameter = np.asarray(after, self.parameter.dtype)
        return self.parameter


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(**numbers)), parameters)


def sgd(hyper, parameters):
    return each(parameters, qml.GradientDescentOptimizer)


def momentum(hyper, parameters):
    return each(parameters, qml.MomentumOptimizer, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, qml.AdagradOptimizer, eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, qml.RMSPropOptimizer, decay=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, qml.RMSPropOptimizer, decay=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "eps": hyper["epsilon"]}
    return each(parameters, qml.AdamOptimizer, **numbers)


class Target(Library):
    distribution = "pennylane"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
    }

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "NesterovMomentumOptimizer takes the gradient at another point"
        if hyper.get("initial_accumulator_value"):
            return "AdagradOptimizer starts at 0"
        if subject == "rmsprop" and (hyper["momentum"] or hyper["centered"]):
            return "RMSPropOptimizer has no momentum and is not centered"
        return None
