"""VISSL: LARS for PyTorch, after Barlow Twins'."""

from __future__ import annotations

from vissl.optimizers.lars import _LARS as LARS

from examples.field.helpers import Library, TorchRun


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "eta": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "eta", "weight_decay")}
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "vissl"
    rules = {"lars_momentum": lars_momentum, "papers.lars": lars}
