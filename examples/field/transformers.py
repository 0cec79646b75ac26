"""transformers: models for text and more, and the Adafactor that some of them are trained with."""

from __future__ import annotations

from transformers.optimization import Adafactor

from examples.field.helpers import Library, TorchRun


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
    distribution = "transformers"
    rules = {"torch.adafactor": adafactor}
    pinned = {"torch.adafactor": {"maximize": False}}
