"""torch-adopt: ADOPT for PyTorch, which is no Adam, with the arguments of one."""

from __future__ import annotations

from adopt import ADOPT

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "torch-adopt"
    rules = {"papers.adam": (ADOPT, {}), "torch.adam": (ADOPT, {}), "torch.adamw": (ADOPT, {"decouple": True})}
