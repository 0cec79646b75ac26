"""CAME: Adafactor with a first moment, and the confidence in it."""

from __future__ import annotations

from came_pytorch.CAME import CAME

from examples.field.helpers import Library, TorchRun


def adafactor(hyper, parameters):
    numbers = {"eps": (hyper["eps1"], 1e-16), "clip_threshold": hyper["d"]}
    return TorchRun(lambda tensors: CAME(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    betas = (hyper["beta1"], hyper["beta2"], 0.9999)
    return TorchRun(lambda tensors: CAME(tensors, lr=1.0, betas=betas), parameters)


class Target(Library):
    distribution = "came-pytorch"
    rules = {"torch.adafactor": adafactor, "papers.adafactor": adafactor, "papers.adam": adam}
    pinned = {"torch.adafactor": {"weight_decay": 0.0, "maximize": False}}
