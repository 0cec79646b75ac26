"""nano_keras: a library like Keras in NumPy, whose optimizers add what they are given."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

# The package uses names that NumPy 2 has no more.
without_init("nano_keras")

from nano_keras.optimizers import SGD, Adadelta, Adagrad, Adam, AdaMax, AdamW, NAdam, RMSProp  # noqa: E402


class Layer:
    """One parameter, which is the bias of a layer where it has one axis, and else its weights."""

    def __init__(self, optimizer, parameter):
        self.optimizer, self.parameter, self.bias = optimizer, parameter, parameter.ndim < 2
        self.other = np.zeros((1, 1) if self.bias else 1, parameter.dtype)

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate = learning_rate
        shape, change, none = grad.shape, np.atleast_1d(-grad), np.zeros_like(self.other)
        parameter = np.atleast_1d(self.parameter)
        if self.bias:
            _, after = self.optimizer.apply_gradients(none, change, self.other, parameter)
        else:
            after, _ = self.optimizer.apply_gradients(change, none, parameter, self.other)
        self.parameter = after.reshape(shape)
        return self.parameter.copy()


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Layer(cls(**numbers), parameter), parameters)


def with_epsilon(cls, hyper, parameters, epsilon, **numbers):
    return each(cls, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=epsilon, **numbers)


def sgd(hyper, parameters):
    return each(SGD, parameters)


def adagrad(hyper, parameters):
    return each(Adagrad, parameters, epsilon=hyper["epsilon"])


def papers_adagrad(hyper, parameters):
    return each(Adagrad, parameters, epsilon=hyper["delta"])


def decayed_adagrad(hyper, parameters):
    return each(RMSProp, parameters, rho=hyper["decay"], epsilon=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(RMSProp, parameters, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(Adadelta, parameters, rho=hyper["rho"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return with_epsilon(Adam, hyper, parameters, hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return with_epsilon(AdamW, hyper, parameters, hyper["eps"], weight_decay=hyper["weight_decay"])


def torch_nadam(hyper, parameters):
    return with_epsilon(NAdam, hyper, parameters, hyper["eps"])


def adamax(hyper, parameters):
    return with_epsilon(AdaMax, hyper, parameters, hyper["epsilon"])


def torch_adamax(hyper, parameters):
    return with_epsilon(AdaMax, hyper, parameters, hyper["eps"])


class Target(Library):
    distribution = "nano-keras"
    rules = {
        "sgd": sgd,
        "adagrad": adagrad,
        "papers.adagrad": papers_adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
        "torch.nadam": torch_nadam,
        "adamax": adamax,
        "torch.adamax": torch_adamax,
    }
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.nadam": {
            "weight_decay": 0.0,
            "momentum_decay": 0.004,
            "decoupled_weight_decay": False,
            "maximize": False,
        },
        "torch.adamax": {"weight_decay": 0.0, "maximize": False},
    }
