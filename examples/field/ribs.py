"""pyribs: optimizers in NumPy that go up; so they are given the gradient of what is to become larger."""

from __future__ import annotations

from ribs.emitters.opt import AdamOpt, GradientAscentOpt

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter, and an optimizer whose learning rate was meant to be constant."""

    def __init__(self, parameter, cls, **numbers):
        self.optimizer = cls(parameter, lr=1.0, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer._lr = learning_rate
        self.optimizer.step(-grad)
        return self.optimizer.theta.copy()


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, **numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, GradientAscentOpt)


def adam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return each(parameters, AdamOpt, **numbers)


class Target(Library):
    distribution = "ribs"
    rules = {"sgd": sgd, "adam": adam}
