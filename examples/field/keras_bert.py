"""keras-bert: Adam whose rate rises and falls in lines, here with lines as long as those of no training."""

from __future__ import annotations

from examples.field.helpers import Library, without_init
from examples.field.keras_legacy import Run, betas, epsilon, no_epsilon_of_zero

without_init("keras_bert", "keras_bert.optimizers")  # the packages import layers

from keras_bert.optimizers.warmup_v2 import AdamWarmup  # noqa: E402


def adam(hyper, parameters, decay_steps=1e30, warmup_steps=0):
    steps = {"decay_steps": decay_steps, "warmup_steps": warmup_steps}
    return Run(parameters, AdamWarmup(**steps, **betas(hyper), **epsilon(hyper)))


def adamw(hyper, parameters):
    steps = {"decay_steps": 1e30, "warmup_steps": 0}
    numbers = {"weight_decay": hyper["weight_decay"], "amsgrad": hyper.get("amsgrad", False)}
    return Run(parameters, AdamWarmup(**steps, **betas(hyper), **epsilon(hyper), **numbers))


class Target(Library):
    distribution = "keras-bert"
    rules = {"adam": adam, "papers.adamw": adamw, "torch.adamw": adamw}
    pinned = {"torch.adamw": {"maximize": False}}

    def refusal(self, subject, hyper):
        return no_epsilon_of_zero(hyper)
