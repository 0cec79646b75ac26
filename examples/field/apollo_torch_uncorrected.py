"""APOLLO's AdamW without the bias correction, as it is meant for BERT."""

from __future__ import annotations

from examples.field.apollo_torch import AdamW
from examples.field.helpers import Library, TorchRun, averages


def adam(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": 0.0, "correct_bias": False, "no_deprecation_warning": True}
    return TorchRun(lambda tensors: AdamW(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "apollo-torch"
    rules = {"adam": adam, "papers.adam": adam}
