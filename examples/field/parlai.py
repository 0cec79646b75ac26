"""ParlAI: optimizers for parameters in float16, which compute in float32; for float32 itself, then."""

from __future__ import annotations

from parlai.utils.fp16 import Adafactor, MemoryEfficientFP16Adam

from examples.field.helpers import Library, TorchRun, averages


def adam(hyper, parameters):
    return TorchRun(lambda tensors: MemoryEfficientFP16Adam(tensors, lr=1.0, **averages(hyper)), parameters)


def torch_adam(hyper, parameters):
    numbers = {**averages(hyper), "weight_decay": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return TorchRun(lambda tensors: MemoryEfficientFP16Adam(tensors, lr=1.0, **numbers), parameters)


def torch_adafactor(hyper, parameters):
    numbers = {"eps": (hyper["eps1"], hyper["eps2"]), "clip_threshold": hyper["d"]}
    numbers |= {"decay_rate": hyper["beta2_decay"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


def adafactor(hyper, parameters):
    numbers = {"eps": (hyper["eps1"], hyper["eps2"]), "clip_threshold": hyper["d"], "decay_rate": -hyper["c"]}
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "parlai"
    dtypes = ("float32",)
    rules = {
        "adam": adam,
        "torch.adam": torch_adam,
        "torch.adafactor": torch_adafactor,
        "papers.adafactor": adafactor,
    }
    pinned = {
        "torch.adam": {"maximize": False, "decoupled_weight_decay": False},
        "torch.adafactor": {"maximize": False},
    }
