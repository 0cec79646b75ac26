"""Flax before 0.6: the optimizers of `flax.optim` over JAX; each parameter has one of its own, and so its own count."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

# Flax 0.5 was written for an older JAX, which had the first two functions here; the third names paths, for messages.
jax.tree_flatten, jax.tree_unflatten = jax.tree_util.tree_flatten, jax.tree_util.tree_unflatten
jax.tree_util.register_keypaths = lambda *_: None
# Without its modules of layers, and without those for several devices.
sys.modules["flax.jax_utils"] = ModuleType("flax.jax_utils")
without_init("flax", "flax.core")
sys.modules["flax.core"].__dict__.update(FrozenDict=None, unfreeze=None)

from flax import optim  # noqa: E402

warnings.filterwarnings("ignore", message="Use `optax` instead")


class Parameter:
    """One parameter and its optimizer, with float64 in JAX where the parameter has it."""

    def __init__(self, parameter, definition):
        self.wide = parameter.dtype == np.float64
        with jax.enable_x64(self.wide):
            self.optimizer = definition.create(jnp.array(parameter))

    def step(self, grad, learning_rate):
        with jax.enable_x64(self.wide):
            self.optimizer = self.optimizer.apply_gradient(jnp.array(grad), learning_rate=learning_rate)
            return np.array(self.optimizer.target)


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(**numbers)), parameters)


def betas(hyper):
    return {"beta1": hyper["beta1"], "beta2": hyper["beta2"]}


def sgd(hyper, parameters):
    return each(parameters, optim.GradientDescent)


def momentum(hyper, parameters):
    return each(parameters, optim.Momentum, beta=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {"weight_decay": hyper["weight_decay"], "nesterov": hyper["nesterov"]}
    return each(parameters, optim.Momentum, beta=hyper["momentum"], **numbers)


def adam(hyper, parameters):
    return each(parameters, optim.Adam, **betas(hyper), eps=hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return each(parameters, optim.Adam, **betas(hyper), eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def adagrad(hyper, parameters):
    return each(parameters, optim.Adagrad, eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(parameters, optim.Adadelta, rho=hyper["rho"], eps=hyper["epsilon"])


def torch_adadelta(hyper, parameters):
    return each(parameters, optim.Adadelta, rho=hyper["rho"], eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, optim.RMSProp, beta2=hyper["decay"], eps=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    return each(parameters, optim.RMSProp, beta2=hyper["alpha"], eps=hyper["eps"], centered=hyper["centered"])


def lamb(hyper, parameters):
    return each(parameters, optim.LAMB, **betas(hyper), weight_decay=hyper["weight_decay"], eps=hyper["epsilon"])


def lars_momentum(hyper, parameters):
    numbers = {"weight_decay": hyper["lars_weight_decay"], "trust_coefficient": hyper["lars_coeff"]}
    return each(parameters, optim.LARS, beta=hyper["momentum"], **numbers)


def lars(hyper, parameters):
    numbers = {"weight_decay": hyper["weight_decay"], "trust_coefficient": hyper["eta"]}
    return each(parameters, optim.LARS, beta=hyper["momentum"], **numbers)


def adabelief(hyper, parameters):
    return each(parameters, optim.AdaBelief, **betas(hyper), eps=hyper["epsilon"])


def adafactor(hyper, parameters):
    numbers = {
        "decay_rate": -hyper["beta2_decay"],
        "clipping_threshold": hyper["d"],
        "weight_decay_rate": hyper["weight_decay"],
        "epsilon1": hyper["eps1"],
        "epsilon2": hyper["eps2"],
        "min_dim_size_to_factor": 0,  # matrices of every size
    }
    return each(parameters, optim.Adafactor, **numbers)


class Target(Library):
    distribution = "flax"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
        "adagrad": adagrad,
        "adadelta": adadelta,
        "torch.adadelta": torch_adadelta,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "papers.lamb": lamb,
        "lars_momentum": lars_momentum,
        "papers.lars": lars,
        "papers.adabelief": adabelief,
        "torch.adafactor": adafactor,
    }
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adadelta": {"maximize": False},
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "maximize": False},
        "torch.adafactor": {"maximize": False},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject == "torch.adafactor" and dtype != "float32":
            return "Adafactor casts gradients to float32"
        return super().unsupported(subject, hyper, dtype)
