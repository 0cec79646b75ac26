"""torchlab: optimizers and more for PyTorch, written anew; QHAdam and QHM are judged at their defaults."""

from __future__ import annotations

from torchlab.optimizers.optimizers import (
    LAMB,
    LARS,
    QHM,
    SGDW,
    AdaBelief,
    Adan,
    Lion,
    NovoGrad,
    QHAdam,
    Yogi,
)

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "torchlab-pytorch"
    rules = {
        "papers.lion": (Lion, {}),
        "lars_momentum": (LARS, {}),
        "papers.lars": (LARS, {"eps": 0}),
        "lamb": (LAMB, {}),
        "papers.lamb": (LAMB, {"bias_correction": True}),
        "papers.adabelief": (AdaBelief, {}),
        "papers.yogi": (Yogi, {}),
        "papers.novograd": (NovoGrad, {}),
        "papers.adan": (Adan, {"betas": ("1-beta1", "1-beta2", "1-beta3")}),
        "torch.adam": (QHAdam, {}),
        "momentum": (QHM, {}),
        "torch.sgd": (SGDW, {}),
    }
