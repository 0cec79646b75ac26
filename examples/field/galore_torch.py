"""GaLore: optimizers of projected gradients, here without a rank, so that nothing is projected."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, without_init

# The package imports bitsandbytes, for optimizers in 8 bits alone.
without_init("galore_torch")

from galore_torch.adafactor import Adafactor  # noqa: E402
from galore_torch.adamw import AdamW  # noqa: E402


def adamw(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "no_deprecation_warning": True,
    }
    return TorchRun(lambda tensors: AdamW(tensors, lr=1.0, **numbers), parameters)


def adafactor(hyper, parameters):
    numbers = {
        "eps": (hyper["eps1"], hyper["eps2"]),
        "clip_threshold": hyper["d"],
        "decay_rate": hyper["beta2_decay"],
        "weight_decay": hyper["weight_decay"],
        "relative_step": False,
    }
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "galore-torch"
    rules = {"torch.adamw": adamw, "torch.adafactor": adafactor}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}, "torch.adafactor": {"maximize": False}}
