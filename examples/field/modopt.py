"""ModOpt: solvers of inverse problems, which iterate over an operator that gives the gradient, in float64."""

from __future__ import annotations

import numpy as np
from modopt.opt.algorithms import gradient_descent as solvers
from modopt.opt.gradient import GradParent
from modopt.opt.proximity import IdentityProx

from examples.field.helpers import Library, OnePerParameter


def same(x):
    return x


class Parameter:
    """One parameter and its solver, without a cost, so that nothing ends it; an epoch is one step, as by default."""

    def __init__(self, parameter, cls, numbers):
        self.gradient = GradParent(parameter, same, same, get_grad=same, verbose=False)
        self.solver = cls(parameter, self.gradient, IdentityProx(), None, progress=False, **numbers)

    def step(self, grad, learning_rate):
        self.gradient.grad = grad
        self.solver._eta = learning_rate  # eta_update would be told the one of the next step
        self.solver.iterate(max_iter=1)
        return np.asarray(self.solver.x_final)


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, solvers.VanillaGenericGradOpt)


def momentum(hyper, parameters):
    return each(parameters, solvers.MomentumGradOpt, beta=hyper["momentum"])


def adagrad(hyper, parameters):
    return each(parameters, solvers.AdaGenericGradOpt, epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, solvers.RMSpropGradOpt, gamma=hyper["decay"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    numbers = {"beta": hyper["beta1"], "gamma": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return each(parameters, solvers.ADAMGradOpt, **numbers)


class Target(Library):
    distribution = "modopt"
    dtypes = ("float64",)
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "decayed_adagrad": decayed_adagrad, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}, "adagrad": {"initial_accumulator_value": 0.0}}
