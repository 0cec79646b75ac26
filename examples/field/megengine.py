"""MegEngine: optimizers that are written in its tensors, in float32. Its LAMB raises an error when it is made."""

from __future__ import annotations

from functools import partial

from megengine import Parameter, Tensor, optimizer

from examples.field.helpers import GroupsRun, Library, averages, clipped_in_place


def run(kind, parameters, **numbers):
    made = [Parameter(parameter) for parameter in parameters]
    return GroupsRun(kind(made, lr=1.0, **numbers), made, Tensor)


def sgd(hyper, parameters):
    return run(optimizer.SGD, parameters)


def momentum(hyper, parameters):
    return run(optimizer.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "nesterov", "weight_decay")}
    return run(optimizer.SGD, parameters, **numbers)


def adagrad(hyper, parameters):
    return run(optimizer.Adagrad, parameters, eps=hyper["epsilon"])


def torch_adagrad(hyper, parameters):
    numbers = {name: hyper[name] for name in ("lr_decay", "eps", "weight_decay")}
    return run(optimizer.Adagrad, parameters, **numbers)


def adadelta(hyper, parameters):
    return run(optimizer.Adadelta, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def torch_adadelta(hyper, parameters):
    numbers = {name: hyper[name] for name in ("rho", "eps", "weight_decay")}
    return run(optimizer.Adadelta, parameters, **numbers)


def adam(hyper, parameters):
    return run(optimizer.Adam, parameters, **averages(hyper))


def torch_adam(hyper, parameters):
    return run(optimizer.Adam, parameters, **averages(hyper), weight_decay=hyper["weight_decay"])


def adamw(hyper, parameters):
    return run(optimizer.AdamW, parameters, **averages(hyper), weight_decay=hyper["weight_decay"])


def clip_by_value(hyper, parameters):
    clip = partial(optimizer.clip_grad_value, lower=hyper["min"], upper=hyper["max"])
    return clipped_in_place(clip, Parameter, Tensor)


def clip_by_global_norm(hyper, parameters):
    clip = partial(optimizer.clip_grad_norm, max_norm=hyper["clip_norm"])
    return clipped_in_place(clip, Parameter, Tensor)


class Target(Library):
    distribution = "MegEngine"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "torch.adagrad": torch_adagrad,
        "adadelta": adadelta,
        "torch.adadelta": torch_adadelta,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": adamw,
    }
    wrappers = {"clip_by_value": clip_by_value, "clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adagrad": {"initial_accumulator_value": 0.0, "maximize": False},
        "torch.adadelta": {"maximize": False},
        "torch.adam": {"amsgrad": False, "maximize": False, "decoupled_weight_decay": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        if hyper.get("nesterov", hyper.get("use_nesterov")) and not hyper["momentum"]:
            return "Nesterov's momentum needs a momentum"
        return None
