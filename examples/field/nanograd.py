"""nanograd: a small framework over NumPy; its optimizers take every gradient, and count steps for all parameters."""

from __future__ import annotations

import builtins
import warnings

builtins.warnings = warnings  # which it does not import where it says that there is no OpenCL

from nanograd.optim import optimizer as kinds  # noqa: E402
from nanograd.tensor import Tensor  # noqa: E402

from examples.field.helpers import Library, OnePerParameter  # noqa: E402


class Parameter:
    def __init__(self, parameter, make):
        self.tensor = Tensor(parameter)
        self.optimizer = make([self.tensor])

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.tensor.grad = learning_rate, Tensor(grad)
        self.optimizer.step()
        return self.tensor.data.copy()


def kind_of(kind, **names):
    """Begin runs of a class that is given the hyperparameters by these names."""

    def start(hyper, parameters):
        numbers = {own: hyper[name] for own, name in names.items()}
        return OnePerParameter(lambda parameter: Parameter(parameter, lambda x: kind(x, **numbers)), parameters)

    return start


MOMENTS = {"beta1": "beta1", "beta2": "beta2"}


class Target(Library):
    distribution = "nanograd"
    cannot = ("0-d parameters",)
    rules = {
        "sgd": kind_of(kinds.SGD),
        "momentum": kind_of(kinds.SGD, momentum="momentum"),
        "torch.adam": kind_of(kinds.Adam, eps="eps", **MOMENTS),
        "papers.adam": kind_of(kinds.Adam, eps="epsilon", **MOMENTS),
        "torch.adamw": kind_of(kinds.AdamW, eps="eps", weight_decay="weight_decay", **MOMENTS),
        "papers.adamw": kind_of(kinds.AdamW, eps="epsilon", weight_decay="weight_decay", **MOMENTS),
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.adam": {
            "weight_decay": 0.0,
            "amsgrad": False,
            "decoupled_weight_decay": False,
            "maximize": False,
        },
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
