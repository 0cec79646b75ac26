"""DeepSpeed's Muon for one device, with the iteration of its author, in bfloat16."""

from __future__ import annotations

from deepspeed.runtime.zero.muon.original_muon import SingleDeviceMuon

from examples.field.helpers import Library, TorchRun


def muon(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"], "ns_method": "standard"}
    return TorchRun(lambda tensors: SingleDeviceMuon(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "deepspeed"
    cannot = ("missing gradients",)
    rules = {"torch.muon": muon}
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
    }
