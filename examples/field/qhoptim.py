"""qhoptim: quasi-hyperbolic momentum and Adam for PyTorch, also with the weights that make them plain ones."""

from __future__ import annotations

from qhoptim.pyt import QHM, QHAdam

from examples.field.torch_classes import TorchClasses

PLAIN = {"nus": (1.0, 1.0)}


class Target(TorchClasses):
    distribution = "qhoptim"
    rules = {
        "adam": (QHAdam, PLAIN),
        "papers.adam": (QHAdam, PLAIN),
        "torch.adam": (QHAdam, PLAIN),
        "torch.adamw": (QHAdam, {**PLAIN, "decouple_weight_decay": True}),
        "momentum": (QHM, {"nu": 1.0}),
        "papers.qhm": (QHM, {}),
        "papers.qhadam": (QHAdam, {}),
        "sgd": (QHM, {"nu": 0.0, "momentum": 0.5}),
    }
