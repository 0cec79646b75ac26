"""MushroomRL: reinforcement learning, with optimizers in NumPy for what its policies learn."""

from __future__ import annotations

import sys
from types import ModuleType

from examples.field.helpers import Library, OnePerParameter, without_init

# The packages import environments and approximators.
without_init("mushroom_rl", "mushroom_rl.core", "mushroom_rl.utils")

from mushroom_rl.core.serialization import Serializable  # noqa: E402

sys.modules["mushroom_rl.core"].Serializable = Serializable
sys.modules["mushroom_rl.approximators"] = ModuleType("mushroom_rl.approximators")
sys.modules["mushroom_rl.approximators"].Ensemble = object

from mushroom_rl.utils.optimizers import AdamOptimizer, SGDOptimizer  # noqa: E402
from mushroom_rl.utils.parameters import Parameter as Scheduled  # noqa: E402


class Rate(Scheduled):
    """A learning rate that is given with each step."""

    current = 1.0

    def _compute(self, *idx, **kwargs):
        return self.current


class Parameter:
    """One parameter and its optimizer."""

    def __init__(self, parameter, kind, numbers):
        self.parameter, self.rate = parameter, Rate(1.0)
        self.optimizer = kind(lr=self.rate, **numbers)

    def step(self, grad, learning_rate):
        self.rate.current = learning_rate
        self.parameter = self.optimizer(self.parameter, grad)
        return self.parameter


def each(parameters, kind, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, kind, numbers), parameters)


def betas(hyper):
    return {"beta1": hyper["beta1"], "beta2": hyper["beta2"]}


def sgd(hyper, parameters):
    return each(parameters, SGDOptimizer, maximize=False)


def adam(hyper, parameters):
    return each(parameters, AdamOptimizer, **betas(hyper), eps=hyper["epsilon"], maximize=False)


def torch_adam(hyper, parameters):
    return each(parameters, AdamOptimizer, **betas(hyper), eps=hyper["eps"], maximize=hyper["maximize"])


class Target(Library):
    distribution = "mushroom-rl"
    rules = {"sgd": sgd, "adam": adam, "papers.adam": adam, "torch.adam": torch_adam}
    pinned = {"torch.adam": {"weight_decay": 0.0, "amsgrad": False, "decoupled_weight_decay": False}}
