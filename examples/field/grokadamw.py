"""GrokAdamW without what it adds to AdamW: no amplified gradients, no clip, one decay for all parameters."""

from __future__ import annotations

from grokadamw import GrokAdamW

from examples.field.helpers import Library, TorchRun, averages

PLAIN = {"lamb": 0.0, "gamma": 0.0, "gradient_clipping": 0.0}


def run_of(hyper, parameters, **numbers):
    """Begin a run with some numbers of its own, the others being defaults."""
    given = {**averages(hyper), "weight_decay": hyper.get("weight_decay", 0.0), **numbers}
    return TorchRun(lambda tensors: GrokAdamW(tensors, lr=1.0, **given), parameters)


def adam(hyper, parameters):
    return run_of(hyper, parameters, **PLAIN)


class Target(Library):
    distribution = "grokadamw"
    rules = {"adam": adam, "papers.adam": adam, "torch.adamw": adam}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
