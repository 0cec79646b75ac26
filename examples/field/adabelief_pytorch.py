"""adabelief-pytorch: AdaBelief of its authors for PyTorch, here neither rectified nor decayed."""

from __future__ import annotations

from adabelief_pytorch import AdaBelief

from examples.field.helpers import Library, TorchRun


def adabelief(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    published = {"weight_decouple": False, "rectify": False, "print_change_log": False}
    return TorchRun(lambda tensors: AdaBelief(tensors, lr=1.0, **numbers, **published), parameters)


class Target(Library):
    distribution = "adabelief-pytorch"
    rules = {"papers.adabelief": adabelief}
