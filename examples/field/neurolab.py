"""neurolab: neural networks in NumPy as in a toolbox of MATLAB, in float64."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from examples.field.helpers import Gradients, Library, OnePerParameter, without_init

# The package and its lists of functions use names that NumPy 2 has no more.
without_init("neurolab", "neurolab.train")

from neurolab import tool  # noqa: E402
from neurolab.train.gd import TrainGD, TrainGDM, TrainRprop  # noqa: E402


def layer(weights):
    """One layer of a network, as functions of training take it: the parameter is its weights, and there is no bias."""
    return SimpleNamespace(np={"w": weights, "b": np.zeros(1)})


class Net:
    """A network of one layer, and a training function that is built with the first learning rate."""

    def __init__(self, parameter, kind, numbers, flat):
        self.layers, self.kind, self.numbers, self.flat = [layer(parameter)], kind, numbers, flat
        self.train = None

    def step(self, grad, learning_rate):
        if self.train is None:
            self.train = self.kind(self, None, None, lr=learning_rate, **self.numbers)
        self.train.lr = learning_rate
        if self.flat:
            self.train.learn(self, np.append(grad.ravel(), 0.0))
        else:
            self.train.learn(self, [{"w": grad, "b": np.zeros(1)}])
        return self.layers[0].np["w"].copy()


def each(parameters, kind, flat=False, **numbers):
    return OnePerParameter(lambda parameter: Net(parameter, kind, numbers, flat), parameters)


def sgd(hyper, parameters):
    return each(parameters, TrainGD)


def momentum(hyper, parameters):
    return each(parameters, TrainGDM, mc=hyper["momentum"])


def rprop(hyper, parameters):
    numbers = {"rate_dec": hyper["etaminus"], "rate_inc": hyper["etaplus"]}
    limits = {"rate_min": hyper["step_size_min"], "rate_max": hyper["step_size_max"]}
    return each(parameters, TrainRprop, flat=True, **numbers, **limits)


def l2_decay(hyper, parameters):
    net = SimpleNamespace(layers=[layer(parameter.copy()) for parameter in parameters])

    def regularized(grads):
        given = [{"w": grad, "b": np.zeros(1)} for grad in grads]
        return [grad["w"] for grad in tool.reg_grad(given, net, hyper["regularization_coeff"])]

    return Gradients(regularized)


class Target(Library):
    distribution = "neurolab"
    dtypes = ("float64",)
    rules = {"sgd": sgd, "momentum": momentum, "torch.rprop": rprop}
    wrappers = {"l2_decay": l2_decay}
    pinned = {"momentum": {"use_nesterov": False}, "torch.rprop": {"maximize": False}}

    def refusal(self, subject, hyper):
        if subject == "l2_decay" and hyper["regularization_coeff"] > 1:
            return "the regularization ratio must be between 0 and 1"
        return None
