"""muon-fsdp2: Muon for sharded parameters, here on one device, and the AdamW that stands beside it."""

from __future__ import annotations

from muon_fsdp2 import Muon

from examples.field.helpers import Library, TorchRun, averages


def run(parameters, **numbers):
    return TorchRun(lambda tensors: Muon([{"params": tensors, "lr": 1.0, **numbers}]), parameters)


def muon(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "weight_decay", "nesterov", "ns_steps")}
    return run(parameters, use_muon=True, rms_scale=hyper["match_rms_adamw"], **numbers)


def adamw(hyper, parameters):
    return run(parameters, use_muon=False, weight_decay=hyper["weight_decay"], **averages(hyper))


class Target(Library):
    distribution = "muon-fsdp2"
    cannot = ("missing gradients",)
    rules = {"torch.muon": muon, "torch.adamw": adamw}
    pinned = {
        "torch.muon": {"a": 3.4445, "b": -4.775, "c": 2.0315, "eps": 1e-7},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
