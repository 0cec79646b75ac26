"""Adam-mini, which goes by the names of parameters: those of biases have a second moment for each element."""

from __future__ import annotations

from adam_mini import Adam_mini

from examples.field.helpers import Library, TorchRun, averages


def named(name, hyper, parameters):
    """Begin a run of parameters that have a name, and a number behind it."""

    def make(tensors):
        names = ((f"{name}{i}", tensor) for i, tensor in enumerate(tensors))
        return Adam_mini(names, lr=1.0, weight_decay=hyper.get("weight_decay", 0.0), verbose=False, **averages(hyper))

    return TorchRun(make, parameters)


def adam(hyper, parameters):
    return named("bias", hyper, parameters)


class Target(Library):
    distribution = "adam-mini"
    rules = {"adam": adam, "papers.adam": adam, "torch.adam": adam, "torch.adamw": adam}
    pinned = {
        "torch.adam": {"weight_decay": 0.0, "amsgrad": False, "maximize": False, "decoupled_weight_decay": False},
        "torch.adamw": {"weight_decay": 0.0, "amsgrad": False, "maximize": False},
    }
