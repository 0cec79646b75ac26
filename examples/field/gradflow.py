"""gradflow: a small framework in NumPy, whose optimizers have one count of steps and compute gradients in float32."""

from __future__ import annotations

import gradflow
from gradflow import optim

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One tensor with an optimizer of its own: theirs take every gradient."""

    def __init__(self, parameter, make):
        self.tensor = gradflow.Tensor(parameter, dtype="float32")
        self.optimizer = make([self.tensor])

    def step(self, grad, learning_rate):
        self.optimizer.lr = learning_rate
        self.tensor.grad = gradflow.Tensor(grad, dtype="float32")
        self.optimizer.step()
        return self.tensor.numpy()


def sgd(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"]}
    return OnePerParameter(lambda parameter: Parameter(parameter, lambda x: optim.SGD(x, **numbers)), parameters)


def adam(hyper, parameters):
    epsilon = hyper["epsilon"] if "epsilon" in hyper else hyper["eps"]
    decay = hyper.get("weight_decay", 0.0)
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "eps": epsilon, "weight_decay": decay}
    return OnePerParameter(lambda parameter: Parameter(parameter, lambda x: optim.Adam(x, **numbers)), parameters)


class Target(Library):
    distribution = "gradflow"
    dtypes = ("float32",)
    rules = {"torch.sgd": sgd, "torch.adam": adam, "papers.adam": adam}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
    }
