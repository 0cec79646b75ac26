"""schedulefree: optimizers of Meta for torch, whose parameters are between an average and what is stepped."""

from __future__ import annotations

import schedulefree

from examples.field.helpers import Library, TorchRun, averages


def run(parameters, kind, **numbers):
    def made(tensors):
        optimizer = kind(tensors, lr=1.0, **numbers)
        optimizer.train()
        return optimizer

    return TorchRun(made, parameters)


def sgd(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"]}
    return run(parameters, schedulefree.SGDScheduleFree, **numbers)


def adamw(hyper, parameters):
    return run(parameters, schedulefree.AdamWScheduleFree, weight_decay=hyper["weight_decay"], **averages(hyper))


def radam(hyper, parameters):
    return run(parameters, schedulefree.RAdamScheduleFree, weight_decay=hyper["weight_decay"], **averages(hyper))


class Target(Library):
    distribution = "schedulefree"
    rules = {"torch.sgd": sgd, "torch.adamw": adamw, "torch.radam": radam}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.radam": {"decoupled_weight_decay": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        return "the momentum is above 0" if hyper.get("momentum") == 0 else None
