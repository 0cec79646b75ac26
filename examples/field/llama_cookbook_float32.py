"""Llama Cookbook's AdamW with moments in float32, which it is told by dtypes of torch."""

from __future__ import annotations

import torch

from examples.field.llama_cookbook import AnyPrecisionAdamW
from examples.field.torch_classes import TorchClasses


def adamw(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return AnyPrecisionAdamW(params, lr, betas, eps, weight_decay, False, torch.float32, torch.float32)


class Target(TorchClasses):
    distribution = "llama-cookbook"
    rules = {"torch.adamw": (adamw, {})}
