"""adabelief-slim: AdaBelief in one short class for PyTorch."""

from __future__ import annotations

from adabelief import AdaBelief

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "adabelief-slim"
    rules = {"papers.adabelief": (AdaBelief, {})}
