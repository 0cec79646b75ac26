"""Sophia without estimates of its curvature, which come from a second call: a sign of the momentum, then."""

from __future__ import annotations

from sophia_opt import SophiaG

from examples.field.helpers import Library, TorchRun


def lion(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: SophiaG(tensors, lr=1.0, **numbers), parameters)


def signum(hyper, parameters):
    numbers = {"betas": (hyper["beta"], 0.99), "weight_decay": 0.0}
    return TorchRun(lambda tensors: SophiaG(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "weight_decay": 0.0}
    return TorchRun(lambda tensors: SophiaG(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "sophia-opt"
    rules = {"papers.signum": signum, "papers.lion": lion, "papers.adam": adam}
