"""AdamP: Adam and descent for PyTorch whose steps lose what only scales the weights before a normalization."""

from __future__ import annotations

from adamp import SGDP, AdamP

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "adamp"
    rules = {
        "torch.adamw": (AdamP, {}),
        "torch.adam": (AdamP, {}),
        "papers.adam": (AdamP, {}),
        "torch.sgd": (SGDP, {}),
        "momentum": (SGDP, {}),
        "sgd": (SGDP, {}),
    }
