"""PFRL: reinforcement learning on PyTorch, with an RMSProp of its own."""

from __future__ import annotations

from pfrl.optimizers import RMSpropEpsInsideSqrt

from examples.field.helpers import Library, TorchRun


def decayed_adagrad(hyper, parameters):
    numbers = {"alpha": hyper["decay"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: RMSpropEpsInsideSqrt(tensors, lr=1.0, **numbers), parameters)


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"]}
    flags = {"momentum": hyper["momentum"], "centered": hyper["centered"]}
    return TorchRun(lambda tensors: RMSpropEpsInsideSqrt(tensors, lr=1.0, **numbers, **flags), parameters)


class Target(Library):
    distribution = "pfrl"
    rules = {"decayed_adagrad": decayed_adagrad, "rmsprop": rmsprop}
