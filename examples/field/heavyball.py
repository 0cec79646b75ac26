"""HeavyBall: optimizers for PyTorch that are chains of transformations, compiled unless one turns that off."""

from __future__ import annotations

import heavyball
import torch
from heavyball import utils

from examples.field.helpers import Average, Gradients, Library, TorchRun

utils.compile_mode = None


def run(kind, parameters, **numbers):
    # Its states are float32 unless it is told otherwise.
    numbers["storage_dtype"] = parameters[0].dtype.name
    return TorchRun(lambda tensors: kind(tensors, lr=1.0, **numbers), parameters)


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def sgd(hyper, parameters):
    return run(heavyball.SGD, parameters, beta=0.0)


def momentum(hyper, parameters):
    return run(heavyball.SGD, parameters, beta=hyper["momentum"])


def torch_sgd(hyper, parameters):
    return run(heavyball.SGD, parameters, beta=hyper["momentum"], weight_decay=hyper["weight_decay"])


def rmsprop(hyper, parameters):
    # The first of the two is of no use to it.
    return run(heavyball.RMSprop, parameters, betas=(0.9, hyper["rho"]), eps=hyper["epsilon"])


def adam(hyper, parameters):
    return run(heavyball.AdamW, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def torch_adamw(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(heavyball.AdamW, parameters, **numbers)


def nadam(hyper, parameters):
    numbers = {
        "betas": (hyper["mu"], hyper["nu"]),
        "eps": hyper["epsilon"],
        "momentum_decay": hyper["momentum_decay"],
    }
    return run(heavyball.NAdam, parameters, **numbers)


def torch_nadam(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "momentum_decay": hyper["momentum_decay"],
        "decoupled_weight_decay": hyper["decoupled_weight_decay"],
    }
    return run(heavyball.NAdam, parameters, **numbers)


def muon(hyper, parameters):
    numbers = {
        "betas": (hyper["momentum"], 0.99),
        "weight_decay": hyper["weight_decay"],
        "nesterov": hyper["nesterov"],
        "heavyball_momentum": True,
    }
    torch.manual_seed(0)  # it rounds float32 to bfloat16 at random
    return run(heavyball.Muon, parameters, **numbers)


def tensors_of(grads):
    return [torch.tensor(grad) for grad in grads]


def clip_by_norm(hyper, parameters):
    return Gradients(lambda grads: utils.l2_clip_(tensors_of(grads), hyper["clip_norm"]))


def clip_by_global_norm(hyper, parameters):
    def clipped(grads):
        # An optimizer does not call it without gradients.
        return utils.global_l2norm_clip(tensors_of(grads), hyper["clip_norm"]) if grads else []

    return Gradients(clipped)


def exponential_moving_average(hyper, parameters):
    held = [torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters]
    optimizer = heavyball.SGD(held)
    optimizer.ema_decay = 1 - hyper["decay"]

    def update(fed):
        for parameter, value in zip(held, fed, strict=True):
            parameter.data.copy_(torch.tensor(value))
        optimizer.ema_update()

    def averages():
        optimizer.copy_emas_to_params()
        arrays = [parameter.detach().numpy().copy() for parameter in held]
        optimizer.copy_params_to_emas()
        return arrays

    return Average(update, averages)


class Target(Library):
    distribution = "heavyball"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "rmsprop": rmsprop,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
        "papers.nadam": nadam,
        "torch.nadam": torch_nadam,
        "torch.muon": muon,
    }
    wrappers = {
        "clip_by_norm": clip_by_norm,
        "clip_by_global_norm": clip_by_global_norm,
        "exponential_moving_average": exponential_moving_average,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "rmsprop": {"momentum": 0.0, "centered": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.nadam": {"maximize": False},
        "torch.muon": {
            "a": 3.4445,
            "b": -4.775,
            "c": 2.0315,
            "eps": 1e-7,
            "ns_steps": 5,
            "match_rms_adamw": False,
        },
        "exponential_moving_average": {"scheduled": False},
    }
