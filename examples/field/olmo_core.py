"""OLMo-core: training of language models, with optimizers that can skip a step."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, without_init

# The packages import the models.
without_init("olmo_core", "olmo_core.optim")

from olmo_core.optim.adamw import SkipStepAdamW  # noqa: E402
from olmo_core.optim.lion import Lion  # noqa: E402


def with_epsilon(hyper, parameters, eps, weight_decay=0.0):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": eps, "weight_decay": weight_decay}
    return TorchRun(lambda tensors: SkipStepAdamW(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["eps"], hyper["weight_decay"])


def lion(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lion(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "ai2-olmo-core"
    rules = {"adam": adam, "papers.adam": adam, "torch.adamw": torch_adamw, "papers.lion": lion}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
