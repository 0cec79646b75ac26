"""MADGRAD: dual averaging for PyTorch, as published, and beside it for a descent, whose arguments it has."""

from __future__ import annotations

from madgrad import MADGRAD

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "madgrad"
    rules = {"torch.adagrad": (MADGRAD, {}), "papers.madgrad": (MADGRAD, {"momentum": "1-c"})}
