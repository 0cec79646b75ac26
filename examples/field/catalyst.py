"""Catalyst: optimizers with the interface of `torch.optim`; its QHAdamW is also Adam, where nus = (1, 1)."""

from __future__ import annotations

from catalyst.contrib.optimizers.lamb import Lamb
from catalyst.contrib.optimizers.qhadamw import QHAdamW

from examples.field.helpers import Library, TorchRun


def adam(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"], "weight_decay": 0.0}
    return TorchRun(lambda tensors: QHAdamW(tensors, lr=1.0, nus=(1.0, 1.0), **numbers), parameters)


def qhadam(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "nus": (hyper["nu1"], hyper["nu2"]),
        "eps": hyper["epsilon"],
        "weight_decay": 0.0,
    }
    return TorchRun(lambda tensors: QHAdamW(tensors, lr=1.0, **numbers), parameters)


def lamb(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["lamb_weight_decay"],
    }
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "catalyst"
    rules = {"adam": adam, "papers.qhadam": qhadam, "lamb": lamb}
