"""Ultralytics: detection of objects, with an optimizer that adds the steps of Muon and of SGD."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, without_init

# The packages import the models, and OpenCV with them.
without_init("ultralytics", "ultralytics.optim")

from ultralytics.optim.muon import MuSGD  # noqa: E402


def run(parameters, **numbers):
    return TorchRun(lambda tensors: MuSGD(tensors, lr=1.0, **numbers), parameters)


def sgd(hyper, parameters):
    return run(parameters)


def momentum(hyper, parameters):
    return run(parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "weight_decay", "nesterov")}
    return run(parameters, **numbers)


def torch_muon(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["nesterov"]}
    return run(parameters, use_muon=True, muon=1.0, sgd=0.0, **numbers)


class Target(Library):
    distribution = "ultralytics"
    rules = {"sgd": sgd, "momentum": momentum, "torch.sgd": torch_sgd, "torch.muon": torch_muon}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "torch.muon": {
            "weight_decay": 0.0,
            "a": 3.4445,
            "b": -4.775,
            "c": 2.0315,
            "eps": 1e-7,
            "ns_steps": 5,
            "match_rms_adamw": False,
        },
    }
