"""flashoptim's SGDW: flashoptim's own adapter has another SGD."""

from __future__ import annotations

from flashoptim import FlashSGDW

from examples.field.flashoptim import PLAIN
from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "flashoptim"
    dtypes = ("float32",)
    rules = {"torch.sgd": (FlashSGDW, PLAIN)}
