"""gradient-descent: minimizers of a function of one number, of which each update is made as their `fit` makes it."""

from __future__ import annotations

import gradient_descent as kinds

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter, whose gradient is the same wherever it is asked for in a step."""

    def __init__(self, parameter, kind, numbers):
        self.parameter, self.updates = parameter, 0
        self.minimizer = kind(None, lambda x: self.grad, parameter, **numbers)

    def step(self, grad, learning_rate):
        self.grad, self.minimizer.learning_rate = grad, learning_rate
        self.minimizer.n_iterations = max(self.updates, 1)  # `fit` counts from the second update on
        self.parameter = self.parameter - self.minimizer._update_parameter(self.parameter)
        self.updates += 1
        return self.parameter


def run(parameters, kind, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, kind, numbers), parameters)


def sgd(hyper, parameters):
    return run(parameters, kinds.GradientDescent)


def momentum(hyper, parameters):
    return run(parameters, kinds.Momentum, beta_1=hyper["momentum"])


def nag(hyper, parameters):
    return run(parameters, kinds.NAG, gamma=hyper["momentum"])


def rmsprop(hyper, parameters):
    return run(parameters, kinds.RMSprop, beta_2=hyper["decay"])


def adam(hyper, parameters):
    return run(parameters, kinds.Adam, beta_1=hyper["beta1"], beta_2=hyper["beta2"])


class Target(Library):
    distribution = "gradient-descent"
    rules = {"sgd": sgd, "momentum": momentum, "torch.sgd": nag, "decayed_adagrad": rmsprop, "papers.adam": adam}
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False, "maximize": False},
        "decayed_adagrad": {"epsilon": 1e-8},
        "papers.adam": {"epsilon": 1e-8},
    }
