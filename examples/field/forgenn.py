"""forgeNN: a framework in NumPy for teaching, whose tensors are float32."""

from __future__ import annotations

from forgeNN.optimizers import SGD, Adam, AdamW
from forgeNN.tensor import Tensor

from examples.field.helpers import Library, TensorRun


def run(cls, parameters, **numbers):
    tensors = [Tensor(parameter) for parameter in parameters]
    return TensorRun(cls(tensors, lr=1.0, **numbers), tensors)


def sgd(hyper, parameters):
    return run(SGD, parameters)


def momentum(hyper, parameters):
    return run(SGD, parameters, momentum=hyper["momentum"])


def torch_sgd(hyper, parameters):
    return run(SGD, parameters, momentum=hyper["momentum"], weight_decay=hyper["weight_decay"])


def adam(hyper, parameters):
    return run(Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def decayed(cls, hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(cls, parameters, betas=(hyper["beta1"], hyper["beta2"]), **numbers)


def torch_adam(hyper, parameters):
    return decayed(Adam, hyper, parameters)


def torch_adamw(hyper, parameters):
    return decayed(AdamW, hyper, parameters)


class Target(Library):
    distribution = "forgenn"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": torch_adamw,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
