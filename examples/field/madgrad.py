"""MADGRAD: dual averaging for PyTorch, with the arguments of a descent."""

from __future__ import annotations

from madgrad import MADGRAD

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "madgrad"
    rules = {"torch.adagrad": (MADGRAD, {})}
