"""Lightning Bolts: a LARS for torch, which without weight decay is SGD."""

from __future__ import annotations

import sys
from types import ModuleType

from examples.field.helpers import Library, TorchRun, without_init

# The packages import Lightning, of which the optimizer needs a decorator that warns.
without_init("pl_bolts", "pl_bolts.optimizers", "pl_bolts.utils")
stability = ModuleType("pl_bolts.utils.stability")
vars(stability)["under_review"] = lambda: lambda kind: kind
sys.modules[stability.__name__] = stability

from pl_bolts.optimizers.lars import LARS  # noqa: E402


def sgd(hyper, parameters):
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["use_nesterov"]}
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "nesterov")}
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "trust_coefficient": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "trust_coefficient": hyper["eta"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "lightning-bolts"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "lars_momentum": lars_momentum,
        "papers.lars": lars,
    }
    pinned = {"torch.sgd": {"weight_decay": 0.0, "maximize": False}}

    def refusal(self, subject, hyper):
        nesterov = hyper.get("use_nesterov") or hyper.get("nesterov")
        if nesterov and (not hyper["momentum"] or hyper.get("dampening")):
            return "LARS refuses nesterov with momentum 0, and with dampening"
        return None
