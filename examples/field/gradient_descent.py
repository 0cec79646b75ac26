"""gradient-descent: minimizers of a function of one number, of which each update is made as their `fit` makes it."""

from __future__ import annotations

from functools import partial

import gradient_descent as kinds

from examples.field.helpers import Library, one_each


class Parameter:
    """One parameter, whose gradient is the same wherever it is asked for in a step."""

    def __init__(self, kind, numbers, parameter):
        self.parameter, self.updates = parameter, 0
        self.minimizer = kind(None, lambda x: self.grad, parameter, **numbers)

    def step(self, grad, learning_rate):
        self.grad, self.minimizer.learning_rate = grad, learning_rate
        self.minimizer.n_iterations = max(self.updates, 1)  # `fit` counts from the second update on
        self.parameter = self.parameter - self.minimizer._update_parameter(self.parameter)
        self.updates += 1
        return self.parameter


class Target(Library):
    distribution = "gradient-descent"
    rules = {
        "sgd": one_each(partial(Parameter, kinds.GradientDescent)),
        "momentum": one_each(partial(Parameter, kinds.Momentum), beta_1="momentum"),
        "torch.sgd": one_each(partial(Parameter, kinds.NAG), gamma="momentum"),
        "decayed_adagrad": one_each(partial(Parameter, kinds.RMSprop), beta_2="decay"),
        "papers.adam": one_each(partial(Parameter, kinds.Adam), beta_1="beta1", beta_2="beta2"),
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False, "maximize": False},
        "decayed_adagrad": {"epsilon": 1e-8},
        "papers.adam": {"epsilon": 1e-8},
    }
