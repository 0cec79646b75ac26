"""Tequila: quantum algorithms, and optimizers in NumPy that step one vector of angles."""

from __future__ import annotations

import numpy as np
from tequila.optimizers.optimizer_gd import OptimizerGD

from examples.field.helpers import Library


class Run:
    """The stepper of a method over the elements of all parameters, with the moments that it keeps for an objective.

    An objective is anything with an identity here: its gradient is what the run is given.
    """

    def __init__(self, parameters, method, **numbers):
        self.shapes = [parameter.shape for parameter in parameters]
        self.values = dict(enumerate(np.concatenate([parameter.reshape(-1) for parameter in parameters])))
        self.optimizer = optimizer = OptimizerGD(method=method, lr=1.0, **numbers)
        optimizer.iteration = 1
        self.objective, self.grads = object(), np.zeros(len(self.values))
        moments = np.zeros(len(self.values)), np.zeros(len(self.values))
        name = id(self.objective)
        optimizer.gradient_lookup[name] = lambda angles, samples=None: self.grads
        optimizer.active_key_lookup[name] = self.values.keys()
        optimizer.moments_lookup[name], optimizer.moments_trajectory[name] = moments, []
        optimizer.step_lookup[name] = 0

    def step(self, grads, learning_rate):
        self.grads = np.concatenate([grad.reshape(-1) for grad in grads])
        self.optimizer.lr = learning_rate
        self.values = self.optimizer.step(self.objective, self.values)
        flat = np.array([*self.values.values()], np.float64)
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), self.shapes, strict=True)]


def sgd(hyper, parameters):
    return Run(parameters, "sgd")


def momentum(hyper, parameters):
    return Run(parameters, "momentum", beta=hyper["momentum"])


def adagrad(hyper, parameters):
    return Run(parameters, "adagrad", epsilon=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return Run(parameters, "rmsprop", rho=hyper["decay"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(parameters, "adam", beta=hyper["beta1"], rho=hyper["beta2"], epsilon=hyper["epsilon"])


def adamax(hyper, parameters):
    return Run(parameters, "adamax", beta=hyper["beta1"], rho=hyper["beta2"], epsilon=hyper["epsilon"])


def nadam(hyper, parameters):
    # Its momentum is constant, which the documented one is where it does not grow.
    return Run(parameters, "nadam", beta=hyper["mu"] / 2, rho=hyper["nu"], epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "tequila-basic"
    dtypes = ("float64",)
    cannot = ("missing gradients",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "papers.adam": adam,
        "adamax": adamax,
        "papers.nadam": nadam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "papers.nadam": {"momentum_decay": 0.0},
    }

    def refusal(self, subject, hyper):
        decays = [value for name, value in hyper.items() if name in ("momentum", "decay", "beta1", "beta2", "mu", "nu")]
        if 0 in decays or hyper.get("epsilon") == 0:
            return "decays and epsilon must be above 0"
        return None
