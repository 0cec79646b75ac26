"""adam-atan2-pytorch: Adam without an epsilon, and beside it ADOPT, and Muon with steps that are scaled as AdamW's."""

from __future__ import annotations

from adam_atan2_pytorch import MuonAdamAtan2
from adam_atan2_pytorch.adopt import Adopt

from examples.field.helpers import Library, TorchRun


def muon(hyper, parameters):
    numbers = {
        "muon_beta1": hyper["momentum"],
        "muon_newton_schulz5_coefs": (hyper["a"], hyper["b"], hyper["c"]),
        "muon_eps": hyper["eps"],
        "muon_steps": hyper["ns_steps"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: MuonAdamAtan2(tensors, [], lr=1.0, **numbers), parameters)


def adopt(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: Adopt(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "adam-atan2-pytorch"
    rules = {"torch.muon": muon, "papers.adopt": adopt, "papers.adam": adopt}
    pinned = {"torch.muon": {"nesterov": False, "match_rms_adamw": True}}
