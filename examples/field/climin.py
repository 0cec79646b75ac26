"""climin: minimizers in NumPy that are iterated over, and change the array that they were given."""

from __future__ import annotations

import itertools

import climin

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter; the minimizer asks for the gradient in each iteration."""

    def __init__(self, parameter, cls, **numbers):
        self.parameter = parameter
        self.minimizer = cls(parameter, lambda wrt: self.gradient, step_rate=1.0, args=self.arguments(), **numbers)
        self.iterator = iter(self.minimizer)

    @staticmethod
    def arguments():
        return itertools.repeat(([], {}))

    def step(self, grad, learning_rate):
        self.gradient, self.minimizer.step_rate = grad, learning_rate
        next(self.iterator)
        return self.parameter.copy()


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, **numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, climin.GradientDescent)


def momentum(hyper, parameters):
    return each(parameters, climin.GradientDescent, momentum=hyper["momentum"])


def adadelta(hyper, parameters):
    return each(parameters, climin.Adadelta, decay=hyper["rho"], offset=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, climin.RmsProp, decay=hyper["rho"], momentum=hyper["momentum"])


def adam(hyper, parameters):
    shares = {"decay_mom1": 1 - hyper["beta1"], "decay_mom2": 1 - hyper["beta2"]}
    return each(parameters, climin.Adam, **shares, offset=hyper["epsilon"])


class Target(Library):
    distribution = "climin"
    rules = {"sgd": sgd, "momentum": momentum, "adadelta": adadelta, "rmsprop": rmsprop, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}, "rmsprop": {"centered": False, "epsilon": 1e-8}}

    def refusal(self, subject, hyper):
        return "Adam divides by beta2" if subject == "adam" and not hyper["beta2"] else None
