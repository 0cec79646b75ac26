"""Llama Cookbook: recipes for Llama in PyTorch, and an AdamW whose moments are bfloat16 unless it is told otherwise."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.torch_classes import TorchClasses

# The package imports models of transformers beside it; the folder above is a namespace.
without_init("llama_cookbook.policies")

from llama_cookbook.policies.anyprecision_optimizer import AnyPrecisionAdamW  # noqa: E402


class Target(TorchClasses):
    distribution = "llama-cookbook"
    rules = {"torch.adamw": (AnyPrecisionAdamW, {})}
