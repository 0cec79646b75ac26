"""MMPretrain: OpenMMLab's vision models for PyTorch, and optimizers that they are trained with."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from examples.field.helpers import Library, TorchRun, adan_numbers, averages, lars_numbers, without_init

# The packages import models, and the registry of their classes what is registered there.
without_init("mmpretrain", "mmpretrain.engine", "mmpretrain.engine.optimizers")
registry: Any = SimpleNamespace(register_module=lambda: lambda cls: cls)
sys.modules["mmpretrain.registry"] = SimpleNamespace(OPTIMIZERS=registry)  # type: ignore[assignment]

from mmpretrain.engine.optimizers.adan_t import Adan  # noqa: E402
from mmpretrain.engine.optimizers.lamb import Lamb  # noqa: E402
from mmpretrain.engine.optimizers.lars import LARS  # noqa: E402


def adan(hyper, parameters):
    return TorchRun(lambda tensors: Adan(tensors, lr=1.0, **adan_numbers(hyper)), parameters)


def lamb(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["lamb_weight_decay"], "bias_correction": False}
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, **numbers), parameters)


def corrected_lamb(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **lars_numbers(hyper)), parameters)


class Target(Library):
    distribution = "mmpretrain"
    cannot = ("missing gradients", "0-d parameters")
    rules = {
        "papers.adan": adan,
        "lamb": lamb,
        "papers.lamb": corrected_lamb,
        "lars_momentum": lars,
        "papers.lars": lars,
    }
