"""RangerAdaBelief as RAdam with its look ahead, and nothing else that it adds."""

from __future__ import annotations

from examples.field.ranger_adabelief import PLAIN, Ranger, run_of


def radam(hyper, parameters):
    return run_of(hyper, parameters, **{**PLAIN, "k": 6})


class Target(Ranger):
    distribution = "ranger-adabelief"
    rules = {"torch.radam": radam}
