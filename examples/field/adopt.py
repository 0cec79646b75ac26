"""torch-adopt: ADOPT for PyTorch, as published, and beside it for an Adam, whose arguments it has."""

from __future__ import annotations

from adopt import ADOPT

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "torch-adopt"
    rules = {
        "papers.adopt": (ADOPT, {}),
        "papers.adam": (ADOPT, {}),
        "torch.adam": (ADOPT, {}),
        "torch.adamw": (ADOPT, {"decouple": True}),
    }
