"""neograd: a framework in NumPy for teaching, whose tensors are float64."""

from __future__ import annotations

from neograd.autograd.tensor import Tensor
from neograd.nn.optim import GD, Adam, Momentum, RMSProp

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter and its optimizer, which fails where a gradient is missing."""

    def __init__(self, cls, parameter, **numbers):
        self.weights = Tensor(parameter, requires_grad=True)
        self.optimizer = cls([self.weights], 1.0, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.weights.grad = learning_rate, grad
        self.optimizer.step()
        return self.weights.data.copy()


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Parameter(cls, parameter, **numbers), parameters)


def sgd(hyper, parameters):
    return each(GD, parameters)


def momentum(hyper, parameters):
    return each(Momentum, parameters, beta=hyper["momentum"])


def decayed_adagrad(hyper, parameters):
    return each(RMSProp, parameters, beta=hyper["decay"], epsilon=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(RMSProp, parameters, beta=hyper["rho"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return each(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "neograd"
    dtypes = ("float64",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
        "papers.adam": adam,
    }
    pinned = {"momentum": {"use_nesterov": False}, "rmsprop": {"momentum": 0.0, "centered": False}}
