"""Ranger21 without its schedule, look ahead, clips and norms: momentum of two kinds, or MADGRAD."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

from ranger21 import Ranger21

from examples.field.helpers import Library, TorchRun, averages

OFF = {
    "lookahead_active": False,
    "softplus": False,
    "using_gc": False,
    "using_normgc": False,
    "normloss_active": False,
    "use_adaptive_gradient_clipping": False,
    "use_warmup": False,
    "warmdown_active": False,
    "logging_active": False,
    "num_batches_per_epoch": 1000,
    "num_epochs": 1,
}


class Silent(TorchRun):
    """Ranger21 prints what it finds."""

    def step(self, grads, learning_rate):
        with redirect_stdout(StringIO()):
            return super().step(grads, learning_rate)


def run_of(parameters, **numbers):
    with redirect_stdout(StringIO()):
        return Silent(lambda tensors: Ranger21(tensors, lr=1.0, **OFF, **numbers), parameters)


def adamw(hyper, parameters):
    return run_of(parameters, weight_decay=hyper["weight_decay"], **averages(hyper))


def madgrad(hyper, parameters):
    return run_of(parameters, use_madgrad=True, momentum=1 - hyper["c"], weight_decay=0.0)


class Target(Library):
    distribution = "ranger21"
    cannot = ("missing gradients", "empty parameters", "NaN and infinities")
    rules = {"torch.adamw": adamw, "papers.madgrad": madgrad}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
