"""Pyro: probabilistic programs on PyTorch; its Adam clips every gradient element, here to no limit."""

from __future__ import annotations

from pyro.optim.clipped_adam import ClippedAdam

from examples.field.helpers import Library, TorchRun


def adam(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"], "clip_norm": float("inf")}
    return TorchRun(lambda tensors: ClippedAdam(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "pyro-ppl"
    rules = {"adam": adam}
