"""ZTLearn: optimizers in NumPy, one for each parameter, which are told the epoch, the batch and its size."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

without_init("ztlearn")  # the package imports layers, which need an older NumPy

from ztlearn import optimizers as kinds  # noqa: E402


class Parameter:
    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer, self.batches = parameter, optimizer, 0

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.batches = learning_rate, self.batches + 1
        return np.array(self.optimizer.update(self.parameter, grad, 1, self.batches, 1))


def run(parameters, kind, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, kind(decay_lr=False, **numbers)), parameters)


def sgd(hyper, parameters):
    return run(parameters, kinds.SGD)


def momentum(hyper, parameters):
    return run(parameters, kinds.SGDMomentum, momentum=hyper["momentum"])


def nesterov(hyper, parameters):
    return run(parameters, kinds.NesterovAcceleratedGradient, momentum=hyper["momentum"])


def adam(hyper, parameters):
    return run(parameters, kinds.Adam, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


def adamax(hyper, parameters):
    epsilon = hyper.get("eps", 1e-8)  # its own, where the document has none
    return run(parameters, kinds.Adamax, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=epsilon)


def adagrad(hyper, parameters):
    return run(parameters, kinds.AdaGrad, epsilon=hyper["epsilon"] if "epsilon" in hyper else hyper["eps"])


def adadelta(hyper, parameters):
    return run(parameters, kinds.Adadelta, rho=hyper["rho"], epsilon=hyper["eps"])


def rmsprop(hyper, parameters):
    return run(parameters, kinds.RMSprop, rho=hyper["decay"], epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "ztlearn"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": nesterov,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamax": adamax,
        "papers.adamax": adamax,
        "adagrad": adagrad,
        "torch.adadelta": adadelta,
        "decayed_adagrad": rmsprop,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "weight_decay": 0.0, "nesterov": True, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adamax": {"weight_decay": 0.0, "maximize": False},
        "torch.adadelta": {"weight_decay": 0.0, "maximize": False},
    }
