"""rollfast: optimizers over Optax, whose moments are float32."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from rollfast import adamw, apply_updates

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    """One parameter and its state, with float64 in JAX where the parameter has it."""

    def __init__(self, parameter, numbers):
        self.wide, self.numbers = parameter.dtype == np.float64, numbers
        with jax.enable_x64(self.wide):
            self.weights = jnp.array(parameter)
            self.state = adamw(1.0, **numbers).init(self.weights)

    def step(self, grad, learning_rate):
        with jax.enable_x64(self.wide):
            transformation = adamw(learning_rate, **self.numbers)
            updates, self.state = transformation.update(jnp.array(grad), self.state, self.weights)
            self.weights = apply_updates(self.weights, updates, None, stochastic=False)
            return np.array(self.weights)


def each(hyper, parameters, eps, weight_decay, **options):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "eps": eps, "weight_decay": weight_decay, **options}
    return OnePerParameter(lambda parameter: Parameter(parameter, numbers), parameters)


def adam(hyper, parameters):
    return each(hyper, parameters, hyper["epsilon"], 0.0)


def torch_adamw(hyper, parameters):
    return each(hyper, parameters, hyper["eps"], hyper["weight_decay"])


def torch_nadam(hyper, parameters):
    return each(hyper, parameters, hyper["eps"], hyper["weight_decay"], nesterov=True)


class Target(Library):
    distribution = "rollfast"
    rules = {"adam": adam, "papers.adam": adam, "torch.adamw": torch_adamw, "torch.nadam": torch_nadam}
    pinned = {
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.nadam": {"momentum_decay": 0.004, "decoupled_weight_decay": True, "maximize": False},
    }
