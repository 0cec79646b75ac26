"""Lightly: self-supervised learning with PyTorch, with a LARS of its own, which without weight decay is SGD."""

from __future__ import annotations

from lightly.utils.lars import LARS

from examples.field.helpers import Library, TorchRun


def sgd(hyper, parameters):
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["use_nesterov"]}
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "trust_coefficient": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "lightly"
    rules = {"sgd": sgd, "momentum": momentum, "lars_momentum": lars_momentum}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov") and not hyper["momentum"]:
            return "LARS refuses nesterov with momentum 0"
        return None
