"""learned_optimization: Optax' optimizers under an interface of its own, whose rate cannot change in a run."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from learned_optimization.optimizers import base

from examples.field.helpers import Library

MADE = itertools.count()


class Run:
    """All parameters in one tree; the optimizer is made in the first step, which has its rate."""

    def __init__(self, make, parameters):
        self.make, self.optimizer = make, None
        self.wide = parameters[0].dtype == np.float64
        with jax.enable_x64(self.wide):
            self.parameters = [jnp.array(parameter) for parameter in parameters]

    def step(self, grads, learning_rate):
        with jax.enable_x64(self.wide):
            if self.optimizer is None:
                if next(MADE) % 100 == 99:  # each optimizer has programs of its own, which JAX would keep
                    jax.clear_caches()
                self.optimizer = self.make(learning_rate)
                self.state = self.optimizer.init(self.parameters)
            self.state = self.optimizer.update(self.state, [jnp.array(grad) for grad in grads], 0.0)
            return [np.array(parameter) for parameter in self.optimizer.get_params(self.state)]


def sgd(hyper, parameters):
    return Run(base.SGD, parameters)


def momentum(hyper, parameters):
    return Run(lambda rate: base.SGDM(rate, hyper["momentum"]), parameters)


def adam(hyper, parameters):
    numbers = {name: hyper[name] for name in ("beta1", "beta2", "epsilon")}
    return Run(lambda rate: base.Adam(rate, **numbers), parameters)  # with its epsilon under the root


def rmsprop(hyper, parameters):
    numbers = {"decay": hyper["rho"], "epsilon": hyper["epsilon"], "momentum": hyper["momentum"]}
    return Run(lambda rate: base.RMSProp(rate, **numbers), parameters)


class Target(Library):
    distribution = "learned-optimization"
    cannot = ("missing gradients", "learning rates that change")
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam, "papers.adam": adam, "rmsprop": rmsprop}
    pinned = {"momentum": {"use_nesterov": False}, "rmsprop": {"centered": False}}
