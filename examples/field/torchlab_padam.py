"""torchlab's Padam, which is Adam where its power is a half: torchlab's own adapter has another Adam."""

from __future__ import annotations

from torchlab.optimizers.optimizers import Padam

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "torchlab-pytorch"
    rules = {"torch.adam": (Padam, {"partial": 0.5})}
