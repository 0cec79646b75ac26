"""Flair: models of language for PyTorch, and an SGD with decoupled weight decay."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.torch_classes import TorchClasses

# The package imports its models and data sets.
without_init("flair")

from flair.optim import SGDW  # noqa: E402


class Target(TorchClasses):
    distribution = "flair"
    rules = {"torch.sgd": (SGDW, {})}
