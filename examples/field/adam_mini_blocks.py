"""Adam-mini of parameters whose names it does not know: one second moment for each."""

from __future__ import annotations

from examples.field.adam_mini import named
from examples.field.helpers import Library


def adam(hyper, parameters):
    return named("block", hyper, parameters)


class Target(Library):
    distribution = "adam-mini"
    rules = {"adam": adam, "papers.adam": adam, "torch.adamw": adam}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
