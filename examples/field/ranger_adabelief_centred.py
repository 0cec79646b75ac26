"""RangerAdaBelief as RAdam with its look ahead and centred gradients."""

from __future__ import annotations

from examples.field.ranger_adabelief import Ranger, run_of


def radam(hyper, parameters):
    return run_of(hyper, parameters, adabelief=False)


class Target(Ranger):
    distribution = "ranger-adabelief"
    rules = {"torch.radam": radam}
