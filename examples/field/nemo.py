"""NeMo: speech and language models for PyTorch, and optimizers that they are trained with."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, adan_numbers, averages, without_init

# The packages import models and trainers.
without_init("nemo", "nemo.core", "nemo.core.optim")

from nemo.core.optim.adan import Adan  # noqa: E402
from nemo.core.optim.novograd import Novograd  # noqa: E402
from nemo.core.optim.radam import RAdam  # noqa: E402


def novograd(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Novograd(tensors, lr=1.0, **numbers), parameters)


def radam(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: RAdam(tensors, lr=1.0, **numbers), parameters)


def adan(hyper, parameters):
    return TorchRun(lambda tensors: Adan(tensors, lr=1.0, **adan_numbers(hyper)), parameters)


class Target(Library):
    distribution = "nemo_toolkit"
    rules = {"papers.novograd": novograd, "torch.radam": radam, "papers.adan": adan}
    pinned = {"torch.radam": {"decoupled_weight_decay": True, "maximize": False}}
