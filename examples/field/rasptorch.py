"""RaspTorch: a framework like PyTorch for small computers, in NumPy here; its kernels for Vulkan are not judged."""

from __future__ import annotations

import numpy as np
from rasptorch.optim import SGD, Adam, AdamW, RMSProp
from rasptorch.tensor import Parameter

from examples.field.helpers import Library, TensorRun


def run(kind, parameters, **numbers):
    tensors = [Parameter(parameter) for parameter in parameters]
    return TensorRun(kind(tensors, lr=1.0, **numbers), tensors, np.copy)


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def sgd(hyper, parameters):
    return run(SGD, parameters)


def momentum(hyper, parameters):
    return run(SGD, parameters, momentum=hyper["momentum"])


def torch_sgd(hyper, parameters):
    return run(SGD, parameters, momentum=hyper["momentum"], weight_decay=hyper["weight_decay"])


def decayed_adagrad(hyper, parameters):
    return run(RMSProp, parameters, rho=hyper["decay"], eps=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    return run(RMSProp, parameters, rho=hyper["alpha"], eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def adam(hyper, parameters):
    return run(Adam, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def torch_adam(hyper, parameters):
    return run(Adam, parameters, betas=betas(hyper), eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def torch_adamw(hyper, parameters):
    return run(AdamW, parameters, betas=betas(hyper), eps=hyper["eps"], weight_decay=hyper["weight_decay"])


class Target(Library):
    distribution = "rasptorch"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": torch_adamw,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.rmsprop": {"momentum": 0.0, "centered": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
