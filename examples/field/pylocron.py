"""Holocron: computer vision on PyTorch, with optimizers of its own."""

from __future__ import annotations

import math

from examples.field.helpers import Library, TorchRun, adan_numbers, without_init

# The package imports its models, and torchvision with them.
without_init("holocron")

from holocron.optim import LAMB, LARS, AdaBelief, Adan, AdEMAMix  # noqa: E402


def adabelief(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: AdaBelief(tensors, lr=1.0, **numbers), parameters)


def adan(hyper, parameters):
    return TorchRun(lambda tensors: Adan(tensors, lr=1.0, **adan_numbers(hyper)), parameters)


def lamb(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
        "scale_clip": (0.0, math.inf),
    }
    return TorchRun(lambda tensors: LAMB(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


def ademamix(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"], hyper["beta3"]),
        "alpha": hyper["alpha"],
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: AdEMAMix(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "pylocron"
    rules = {
        "papers.adabelief": adabelief,
        "papers.adan": adan,
        "papers.ademamix": ademamix,
        "papers.lamb": lamb,
        "papers.lars": lars,
    }
    pinned = {"papers.lars": {"eta": 1.0}}
