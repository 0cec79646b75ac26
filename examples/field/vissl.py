"""VISSL: LARS for PyTorch, after Barlow Twins'."""

from __future__ import annotations

from vissl.optimizers.lars import _LARS as LARS

from examples.field.helpers import Library, TorchRun, lars_numbers


def lars(hyper, parameters):
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **lars_numbers(hyper)), parameters)


class Target(Library):
    distribution = "vissl"
    rules = {"lars_momentum": lars, "papers.lars": lars}
