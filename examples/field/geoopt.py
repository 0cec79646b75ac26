"""Geoopt: optimizers of PyTorch on manifolds; parameters on none are moved in Euclidean space."""

from __future__ import annotations

import geoopt

from examples.field.helpers import Library, TorchRun


def sgd(hyper, parameters):
    return TorchRun(lambda tensors: geoopt.optim.RiemannianSGD(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["use_nesterov"]}
    return TorchRun(lambda tensors: geoopt.optim.RiemannianSGD(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: geoopt.optim.RiemannianAdam(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "geoopt"
    cannot = ("empty parameters",)
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov") and not hyper["momentum"]:
            return "RiemannianSGD refuses nesterov with momentum 0"
        return None
