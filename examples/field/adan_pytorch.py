"""adan-pytorch: the published Adan, with the interface of `torch.optim`, here never restarted."""

from __future__ import annotations

from adan_pytorch import Adan

from examples.field.helpers import Library, TorchRun


def adan(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"], hyper["beta3"]),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: Adan(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "adan-pytorch"
    rules = {"papers.adan": adan}
