"""MONAI: deep learning for medical images, with Novograd as an optimizer of PyTorch."""

from __future__ import annotations

from monai.optimizers import Novograd

from examples.field.helpers import Library, TorchRun


def novograd(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: Novograd(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "monai"
    rules = {"papers.novograd": novograd}
