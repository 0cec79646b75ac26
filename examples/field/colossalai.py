"""Colossal-AI: training of large models in PyTorch, and optimizers for it, those that are written in Python."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, averages, without_init

# The packages import kernels, which are compiled.
without_init("colossalai", "colossalai.nn", "colossalai.nn.optimizer")

from colossalai.nn.optimizer.lamb import Lamb  # noqa: E402
from colossalai.nn.optimizer.lars import Lars  # noqa: E402


def lamb(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["lamb_weight_decay"]}
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, **numbers), parameters)


def corrected_lamb(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, bias_correction=True, **numbers), parameters)


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "eeta": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: Lars(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "eeta": hyper["eta"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lars(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "colossalai"
    rules = {"lamb": lamb, "papers.lamb": corrected_lamb, "lars_momentum": lars_momentum, "papers.lars": lars}
