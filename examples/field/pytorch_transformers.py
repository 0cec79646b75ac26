"""pytorch-transformers: what transformers was before, with its AdamW for PyTorch."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, averages, without_init

without_init("pytorch_transformers")  # it imports models

from pytorch_transformers.optimization import AdamW  # noqa: E402


def adam(hyper, parameters):
    return TorchRun(lambda tensors: AdamW(tensors, lr=1.0, **averages(hyper)), parameters)


def adamw(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: AdamW(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "pytorch-transformers"
    rules = {"adam": adam, "torch.adamw": adamw, "papers.adamw": adamw}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
