"""Keras 2, as tf_keras: the older optimizers, whose steps are mostly TensorFlow's kernels."""

from __future__ import annotations

from functools import partial

from tf_keras.optimizers import legacy

from examples.field.helpers import Library
from examples.field.tf_keras_optimizers import (
    Run,
    adadelta,
    adagrad,
    adam,
    adamax,
    betas,
    decayed_adagrad,
    epsilon,
    ftrl,
    momentum,
    rmsprop,
    sgd,
    torch_adam,
)


def nadam(hyper, parameters):
    made = legacy.Nadam(**betas(hyper), **epsilon(hyper), schedule_decay=hyper["momentum_decay"])
    return Run(parameters, made)


class Target(Library):
    distribution = "tf-keras"
    rules = {
        "sgd": partial(sgd, legacy),
        "momentum": partial(momentum, legacy),
        "adagrad": partial(adagrad, legacy),
        "adadelta": partial(adadelta, legacy),
        "decayed_adagrad": partial(decayed_adagrad, legacy),
        "rmsprop": partial(rmsprop, legacy),
        "adam": partial(adam, legacy),
        "papers.adam": partial(adam, legacy),
        "torch.adam": partial(torch_adam, legacy),
        "adamax": partial(adamax, legacy),
        "torch.nadam": nadam,
        "ftrl": partial(ftrl, legacy),
    }
    pinned = {
        "torch.adam": {"weight_decay": 0.0, "maximize": False, "decoupled_weight_decay": False},
        "torch.nadam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        if hyper.get("epsilon", hyper.get("eps")) == 0:
            return "an epsilon of 0 stands for 1e-7"
        return None
