"""nanograd: a small framework over NumPy; its optimizers take every gradient, and count steps for all parameters."""

from __future__ import annotations

import builtins
import warnings
from functools import partial

builtins.warnings = warnings  # which it does not import where it says that there is no OpenCL

from nanograd.optim import optimizer as kinds  # noqa: E402
from nanograd.tensor import Tensor  # noqa: E402

from examples.field.helpers import Library, one_each  # noqa: E402


class Parameter:
    def __init__(self, kind, numbers, parameter):
        self.tensor = Tensor(parameter)
        self.optimizer = kind([self.tensor], **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.tensor.grad = learning_rate, Tensor(grad)
        self.optimizer.step()
        return self.tensor.data.copy()


MOMENTS = {"beta1": "beta1", "beta2": "beta2"}


class Target(Library):
    distribution = "nanograd"
    cannot = ("0-d parameters",)
    rules = {
        "sgd": one_each(partial(Parameter, kinds.SGD)),
        "momentum": one_each(partial(Parameter, kinds.SGD), momentum="momentum"),
        "torch.adam": one_each(partial(Parameter, kinds.Adam), eps="eps", **MOMENTS),
        "papers.adam": one_each(partial(Parameter, kinds.Adam), eps="epsilon", **MOMENTS),
        "torch.adamw": one_each(partial(Parameter, kinds.AdamW), eps="eps", weight_decay="weight_decay", **MOMENTS),
        "papers.adamw": one_each(
            partial(Parameter, kinds.AdamW), eps="epsilon", weight_decay="weight_decay", **MOMENTS
        ),
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
