"""Trax: optimizers of one weight at a time over JAX, of which a trainer says the number of the step."""

from __future__ import annotations

import sys
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

from examples.field.helpers import Gradients, Library, OnePerParameter, without_init

# Trax computes on JAX here. It imports data sets and TensorFlow, too, and asks for two of its types to describe shapes.
for name in ("tensorflow", "tensorflow_datasets", "trax.fastmath.tf"):
    sys.modules[name] = ModuleType(name)
sys.modules["tensorflow"].TensorShape = sys.modules["tensorflow"].DType = type("Never", (), {})
sys.modules["trax.fastmath.tf"].TF_BACKEND = {"name": "tensorflow-numpy"}
without_init("trax", "trax.optimizers")

from trax.optimizers.adafactor import Adafactor  # noqa: E402
from trax.optimizers.adam import Adam  # noqa: E402
from trax.optimizers.base import SGD, Optimizer  # noqa: E402
from trax.optimizers.momentum import Momentum  # noqa: E402
from trax.optimizers.rms_prop import RMSProp  # noqa: E402


class Parameter:
    """One weight, its optimizer, and the count of its steps from 0, with float64 in JAX where the weight has it."""

    def __init__(self, parameter, cls, numbers):
        self.wide = parameter.dtype == np.float64
        with jax.enable_x64(self.wide):
            self.weights, self.optimizer, self.count = (jnp.array(parameter),), cls(**numbers), 0
            self.slots, self.numbers = self.optimizer.tree_init(self.weights)

    def step(self, grad, learning_rate):
        with jax.enable_x64(self.wide):
            count, grads = jnp.array(self.count, dtype=jnp.int32), (jnp.array(grad),)
            numbers = {**self.numbers, "learning_rate": learning_rate}
            self.weights, self.slots, _ = self.optimizer.tree_update(count, grads, self.weights, self.slots, numbers)
            self.count += 1
            return np.array(self.weights[0])


class Given(Optimizer):
    """What gradients are clipped for here: it puts them in place of the weights."""

    def init(self, weights):
        return None

    def update(self, step, grads, weights, slots, opt_params):
        return grads, None


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls, numbers), parameters)


def sgd(hyper, parameters):
    return each(parameters, SGD)


def momentum(hyper, parameters):
    numbers = {"mass": hyper["momentum"], "nesterov": hyper["use_nesterov"], "weight_decay_rate": 0.0}
    return each(parameters, Momentum, **numbers)


def torch_sgd(hyper, parameters):
    numbers = {"mass": hyper["momentum"], "nesterov": hyper["nesterov"], "weight_decay_rate": hyper["weight_decay"]}
    return each(parameters, Momentum, **numbers)


def decayed_adagrad(hyper, parameters):
    return each(parameters, RMSProp, gamma=hyper["decay"], eps=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    return each(parameters, RMSProp, gamma=hyper["alpha"], eps=hyper["eps"])


def adam(hyper, parameters):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "eps": hyper["epsilon"], "weight_decay_rate": 0.0}
    return each(parameters, Adam, **numbers)


def adamw(hyper, parameters):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "eps": hyper["epsilon"]}
    return each(parameters, Adam, **numbers, weight_decay_rate=hyper["weight_decay"])


def torch_adamw(hyper, parameters):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "eps": hyper["eps"]}
    return each(parameters, Adam, **numbers, weight_decay_rate=hyper["weight_decay"])


def adafactor(hyper, parameters):
    numbers = {
        "decay_rate": -hyper["beta2_decay"],
        "clipping_threshold": hyper["d"],
        "weight_decay_rate": hyper["weight_decay"],
        "epsilon1": hyper["eps1"],
        "epsilon2": hyper["eps2"],
    }
    return each(parameters, Adafactor, **numbers)


def clip_by_global_norm(hyper, parameters):
    # `clip_grads` gives `nested_map` its arguments in the wrong order, and cannot be called.
    def clipped(grads):
        with jax.enable_x64(any(grad.dtype == np.float64 for grad in grads)):
            tree, optimizer = tuple(map(jnp.array, grads)), Given(clip_grad_norm=hyper["clip_norm"])
            slots, numbers = optimizer.tree_init(tree)
            return [np.array(grad) for grad in optimizer.tree_update(0, tree, tree, slots, numbers)[0]]

    return Gradients(clipped)


class Target(Library):
    distribution = "trax"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "papers.adamw": adamw,
        "torch.adamw": torch_adamw,
        "torch.adafactor": adafactor,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.adafactor": {"maximize": False},
    }
