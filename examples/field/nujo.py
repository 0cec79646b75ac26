"""nujo: a library in NumPy with tensors of its own, which hold numbers in float64; every tensor has a gradient."""

from __future__ import annotations

import numpy as np
from nujo import Tensor, optim

from examples.field.helpers import Library


class Run:
    """Tensors with names, as of the layers of a flow, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.tensors = [Tensor(x.copy(), diff=True, name=f"tensor {i}") for i, x in enumerate(parameters)]
        self.optimizer = cls(lambda: self.tensors, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for tensor, grad in zip(self.tensors, grads, strict=True):
            tensor._grad = Tensor(grad.copy())
        self.optimizer.step()
        return [np.array(tensor.value) for tensor in self.tensors]


def sgd(hyper, parameters):
    return Run(parameters, optim.SGD)


def momentum(hyper, parameters):
    return Run(parameters, optim.Momentum, beta=hyper["momentum"])


def decayed_adagrad(hyper, parameters):
    return Run(parameters, optim.RMSprop, beta=hyper["decay"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(parameters, optim.Adam, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


class Target(Library):
    distribution = "nujo"
    dtypes = ("float64",)
    cannot = ("missing gradients",)
    rules = {"sgd": sgd, "momentum": momentum, "decayed_adagrad": decayed_adagrad, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}
