"""autograd: loops of optimization over flat arrays of float64; one is run again from its start for every step."""

from __future__ import annotations

import numpy as np
from autograd.misc import optimizers

from examples.field.helpers import Library, OnePerParameter


class Loop:
    """One parameter, and the gradients and learning rates so far."""

    def __init__(self, parameter, function, numbers):
        self.parameter, self.function, self.numbers = parameter, function, numbers
        self.grads, self.rates = [], []

    def step(self, grad, learning_rate):
        self.grads.append(grad)
        self.rates.append(learning_rate)
        rate = np.zeros(())  # the step size of the loop, which changes before it is used

        def grad_at(parameter, i):
            rate[()] = self.rates[i]
            return self.grads[i]

        return self.function(grad_at, self.parameter, num_iters=len(self.grads), step_size=rate, **self.numbers)


def each(parameters, function, **numbers):
    return OnePerParameter(lambda parameter: Loop(parameter, function, numbers), parameters)


def momentum(hyper, parameters):
    return each(parameters, optimizers.sgd, mass=hyper["momentum"])


def rmsprop(hyper, parameters):
    return each(parameters, optimizers.rmsprop, gamma=hyper["alpha"], eps=hyper["eps"])


def adam(hyper, parameters):
    return each(parameters, optimizers.adam, b1=hyper["beta1"], b2=hyper["beta2"], eps=hyper["epsilon"])


class Target(Library):
    distribution = "autograd"
    dtypes = ("float64",)
    rules = {"momentum": momentum, "torch.rmsprop": rmsprop, "papers.adam": adam}
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False},
    }
