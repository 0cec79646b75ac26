"""optimi: optimizers with the interface of `torch.optim`, made for low precision."""

from __future__ import annotations

import optimi

from examples.field.helpers import Library, TorchRun


def sgd(hyper, parameters):
    return TorchRun(lambda tensors: optimi.SGD(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    return TorchRun(lambda tensors: optimi.SGD(tensors, lr=1.0, momentum=hyper["momentum"]), parameters)


def adam(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: optimi.Adam(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "torch-optimi"
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}
