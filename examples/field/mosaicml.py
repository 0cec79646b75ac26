"""Composer: optimizers whose decay is weight_decay times the share of the first learning rate, here 1, that is left."""

from __future__ import annotations

import logging

from examples.field.helpers import Library, TorchRun, without_init

# The package imports its trainer, and torchvision with it.
without_init("composer", "composer.optim", "composer.utils")

from composer.optim.decoupled_weight_decay import DecoupledAdamW, DecoupledSGDW  # noqa: E402

logging.getLogger("composer").setLevel(logging.ERROR)  # it warns of a decay of 0.001 and more


def sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "weight_decay", "nesterov")}
    return TorchRun(lambda tensors: DecoupledSGDW(tensors, lr=1.0, **numbers), parameters)


def adamw(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "amsgrad": hyper["amsgrad"],
    }
    return TorchRun(lambda tensors: DecoupledAdamW(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "mosaicml"
    rules = {"torch.sgd": sgd, "torch.adamw": adamw}
    pinned = {"torch.sgd": {"maximize": False}, "torch.adamw": {"maximize": False}}

    def refusal(self, subject, hyper):
        if hyper.get("nesterov") and (not hyper["momentum"] or hyper["dampening"]):
            return "SGD refuses nesterov without momentum or with dampening"
        return None
