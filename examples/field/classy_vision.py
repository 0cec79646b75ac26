"""Classy Vision: RMSprop for PyTorch, copied from torch, with epsilon inside the root as TensorFlow has it."""

from __future__ import annotations

from classy_vision.optim.rmsprop_tf import RMSpropTFOptimizer

from examples.field.helpers import Library, TorchRun


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"]}
    numbers |= {name: hyper[name] for name in ("momentum", "centered")}
    return TorchRun(lambda tensors: RMSpropTFOptimizer(tensors, lr=1.0, **numbers), parameters)


def torch_rmsprop(hyper, parameters):
    numbers = {name: hyper[name] for name in ("alpha", "eps", "weight_decay", "momentum", "centered")}
    return TorchRun(lambda tensors: RMSpropTFOptimizer(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "classy-vision"
    rules = {"rmsprop": rmsprop, "torch.rmsprop": torch_rmsprop}
    pinned = {"torch.rmsprop": {"maximize": False}}
