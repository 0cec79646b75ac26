"""lion-pytorch: the published Lion, with the interface of `torch.optim`."""

from __future__ import annotations

from lion_pytorch import Lion

from examples.field.helpers import Library, TorchRun


def lion(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lion(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "lion-pytorch"
    rules = {"papers.lion": lion}
