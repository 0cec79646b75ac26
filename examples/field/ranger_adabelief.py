"""RangerAdaBelief without what it adds to RAdam: its look ahead never comes; parameters are made float32."""

from __future__ import annotations

from ranger_adabelief import RangerAdaBelief

from examples.field.helpers import Library, TorchRun, averages

NEVER = 10**9  # steps until a look ahead
PLAIN = {"k": NEVER, "use_gc": False, "adabelief": False}


def run_of(hyper, parameters, **numbers):
    """Begin a run with some arguments of its own, the others being defaults."""
    given = {**averages(hyper), "weight_decay": hyper.get("weight_decay", 0.0), **numbers}
    return TorchRun(lambda tensors: RangerAdaBelief(tensors, lr=1.0, **given), parameters)


def radam(hyper, parameters):
    return run_of(hyper, parameters, **PLAIN)


class Ranger(Library):
    dtypes = ("float32",)
    pinned = {"torch.radam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False}}

    def refusal(self, subject, hyper):
        return None if hyper.get("eps", hyper.get("epsilon")) else "RangerAdaBelief needs an eps above 0"


class Target(Ranger):
    distribution = "ranger-adabelief"
    rules = {"torch.radam": radam}
