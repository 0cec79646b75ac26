"""DeZero: optimizers in NumPy over parameters of a model, and hooks that clip or decay before a step."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Gradients, Library

vars(np)["int"] = int  # DeZero 0.0.13 was written for NumPy before 1.24

from dezero import Parameter, Variable, optimizers  # noqa: E402


class Model:
    """What an optimizer of DeZero is set up with."""

    def __init__(self, optimizer, parameters, learning_rate="lr"):
        self.parameters = [Parameter(parameter.copy()) for parameter in parameters]
        self.optimizer = optimizer.setup(self)
        self.learning_rate = learning_rate

    def params(self):
        return self.parameters

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = None if grad is None else Variable(grad.copy())
        if self.learning_rate:
            setattr(self.optimizer, self.learning_rate, learning_rate)
        self.optimizer.update()
        return [parameter.data.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Model(optimizers.SGD(), parameters)


def momentum(hyper, parameters):
    return Model(optimizers.MomentumSGD(momentum=hyper["momentum"]), parameters)


def adagrad(hyper, parameters):
    return Model(optimizers.AdaGrad(eps=hyper["epsilon"]), parameters)


def adadelta(hyper, parameters):
    # It has no learning rate.
    return Model(optimizers.AdaDelta(rho=hyper["rho"], eps=hyper["epsilon"]), parameters, learning_rate=None)


def adam(hyper, parameters):
    optimizer = optimizers.Adam(beta1=hyper["beta1"], beta2=hyper["beta2"], eps=hyper["epsilon"])
    return Model(optimizer, parameters, learning_rate="alpha")


def hooked(hook, parameters):
    def transformed(grads):
        model = [Parameter(parameter.copy()) for parameter in parameters]
        for parameter, grad in zip(model, grads, strict=True):
            parameter.grad = Variable(grad)
        hook(model)
        return [parameter.grad.data for parameter in model]

    return Gradients(transformed)


def clip_by_global_norm(hyper, parameters):
    return hooked(optimizers.ClipGrad(hyper["clip_norm"]), parameters)


def l2_decay(hyper, parameters):
    return hooked(optimizers.WeightDecay(hyper["regularization_coeff"]), parameters)


class Target(Library):
    distribution = "dezero"
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "adadelta": adadelta, "adam": adam}
    wrappers = {"clip_by_global_norm": clip_by_global_norm, "l2_decay": l2_decay}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "MomentumSGD has no Nesterov momentum"
        if hyper.get("initial_accumulator_value"):
            return "AdaGrad starts at 0"
        return None
