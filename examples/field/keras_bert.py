"""keras-bert: Adam whose rate rises and falls in lines, here with lines as long as those of no training."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.keras_legacy import EpsilonAboveZero, Run
from examples.field.tf_keras_optimizers import betas, epsilon

without_init("keras_bert", "keras_bert.optimizers")  # the packages import layers

from keras_bert.optimizers.warmup_v2 import AdamWarmup  # noqa: E402


def adam(hyper, parameters, decay_steps=1e30, warmup_steps=0):
    steps = {"decay_steps": decay_steps, "warmup_steps": warmup_steps}
    numbers = {"weight_decay": hyper.get("weight_decay", 0.0), "amsgrad": hyper.get("amsgrad", False)}
    return Run(parameters, AdamWarmup(**steps, **betas(hyper), **epsilon(hyper), **numbers))


class Target(EpsilonAboveZero):
    distribution = "keras-bert"
    rules = {"adam": adam, "papers.adamw": adam, "torch.adamw": adam}
    pinned = {"torch.adamw": {"maximize": False}}
