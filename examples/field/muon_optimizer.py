"""muon-optimizer: Muon of its author, for one device, and the AdamW that stands beside it."""

from __future__ import annotations

from muon import SingleDeviceMuon, SingleDeviceMuonWithAuxAdam

from examples.field.helpers import Library, TorchRun


def muon(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: SingleDeviceMuon(tensors, lr=1.0, **numbers), parameters)


def adamw(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
    }

    def make(tensors):
        return SingleDeviceMuonWithAuxAdam([{"params": tensors, "lr": 1.0, "use_muon": False, **numbers}])

    return TorchRun(make, parameters)


class Target(Library):
    distribution = "muon-optimizer"
    cannot = ("missing gradients",)
    rules = {"torch.muon": muon, "torch.adamw": adamw}
    pinned = {
        "torch.muon": {
            "nesterov": True,
            "a": 3.4445,
            "b": -4.775,
            "c": 2.0315,
            "eps": 1e-7,
            "ns_steps": 5,
            "match_rms_adamw": False,
        },
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
