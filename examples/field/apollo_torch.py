"""APOLLO: optimizers of projected gradients, here without a rank, so that nothing is projected."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, averages, without_init

# The package imports bitsandbytes, for optimizers in 8 bits alone.
without_init("apollo_torch")

from apollo_torch.adafactor import Adafactor  # noqa: E402
from apollo_torch.adamw import AdamW  # noqa: E402


def adam(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper.get("weight_decay", 0.0), "no_deprecation_warning": True}
    return TorchRun(lambda tensors: AdamW(tensors, lr=1.0, **numbers), parameters)


def torch_adafactor(hyper, parameters):
    numbers = {
        "eps": (hyper["eps1"], hyper["eps2"]),
        "clip_threshold": hyper["d"],
        "decay_rate": hyper["beta2_decay"],
        "weight_decay": hyper["weight_decay"],
        "relative_step": False,
    }
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


def adafactor(hyper, parameters):
    numbers = {
        "eps": (hyper["eps1"], hyper["eps2"]),
        "clip_threshold": hyper["d"],
        "decay_rate": -hyper["c"],
        "relative_step": False,
    }
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "apollo-torch"
    rules = {
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": adam,
        "papers.adamw": adam,
        "torch.adamw": adam,
        "torch.adafactor": torch_adafactor,
        "papers.adafactor": adafactor,
    }
    pinned = {
        "torch.adam": {"weight_decay": 0.0, "amsgrad": False, "maximize": False, "decoupled_weight_decay": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.adafactor": {"maximize": False},
    }
