"""Stable-Baselines3: reinforcement learning with PyTorch, with the RMSprop of TensorFlow 1 rebuilt for it."""

from __future__ import annotations

from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike

from examples.field.helpers import Library, TorchRun


def decayed_adagrad(hyper, parameters):
    return TorchRun(lambda tensors: RMSpropTFLike(tensors, 1.0, alpha=hyper["decay"], eps=hyper["epsilon"]), parameters)


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"], "momentum": hyper["momentum"]}
    return TorchRun(lambda tensors: RMSpropTFLike(tensors, 1.0, centered=hyper["centered"], **numbers), parameters)


class Target(Library):
    distribution = "stable-baselines3"
    rules = {"decayed_adagrad": decayed_adagrad, "rmsprop": rmsprop}
