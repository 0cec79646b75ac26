"""Cotangent: a framework in NumPy."""

from __future__ import annotations

from cotangent.core.tensor import Tensor
from cotangent.optim import SGD, Adam, AdamW

from examples.field.helpers import Library, TensorRun


def run(cls, parameters, **numbers):
    tensors = [Tensor(parameter, requires_grad=True) for parameter in parameters]
    return TensorRun(cls(tensors, lr=1.0, **numbers), tensors, Tensor)


def sgd(hyper, parameters):
    return run(SGD, parameters)


def momentum(hyper, parameters):
    return run(SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adam(hyper, parameters):
    return run(Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def torch_adamw(hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(AdamW, parameters, betas=(hyper["beta1"], hyper["beta2"]), **numbers)


class Target(Library):
    distribution = "cotangent"
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam, "papers.adam": adam, "torch.adamw": torch_adamw}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
