"""Praxis: what Pax trains with, gradient transformations over JAX that may be sharded."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import jax
import jax.numpy as jnp
import numpy as np
from absl import logging

from examples.field.helpers import Average, Library, OnePerParameter

# Praxis 1.4 was written for an older JAX, which had this function here.
jax.tree_map = jax.tree_util.tree_map
# Without its layers and configurations, and without Lingvo: of all that, a namespace is used here.
for name in ("asserts", "base_layer", "gshard_utils", "pax_fiddle", "pytypes", "schedules"):
    sys.modules[f"praxis.{name}"] = MagicMock()
sys.modules["praxis.base_hyperparams"] = MagicMock(FiddleBaseParameterizable=object)
sys.modules["praxis.py_utils"] = MagicMock(
    NestedMap=SimpleNamespace, extract_prefixed_keys_from_nested_map=lambda _: "", is_optax_masked_node=lambda _: False
)
sys.modules["optax_shampoo"] = MagicMock()

from praxis import optimizers  # noqa: E402

logging.set_verbosity(logging.ERROR)  # its own decay is deprecated, and says so each time


class Parameter:
    """One parameter and its state, with float64 in JAX where the parameter has it."""

    def __init__(self, parameter, make):
        self.wide = parameter.dtype == np.float64
        with jax.enable_x64(self.wide):
            self.parameter = jnp.array(parameter)
            self.transformation = make(lambda count: jnp.asarray(self.learning_rate, parameter.dtype), parameter.dtype)
            self.state = self.transformation.init(self.parameter)

    def step(self, grad, learning_rate):
        self.learning_rate = learning_rate
        with jax.enable_x64(self.wide):
            updates, self.state = self.transformation.update(jnp.array(grad), self.state, self.parameter)
            self.parameter = self.parameter + updates
            return np.array(self.parameter)


def adam_with(hyper, parameters, epsilon, weight_decay):
    numbers = {"epsilon": epsilon, "epsilon_root": 0.0, "update_capping": 0.0, "weight_decay": weight_decay}
    betas = hyper["beta1"], hyper["beta2"]
    return OnePerParameter(
        lambda parameter: Parameter(parameter, lambda rate, _: optimizers.sharded_adam(rate, *betas, **numbers)),
        parameters,
    )


def adam(hyper, parameters):
    return adam_with(hyper, parameters, hyper["epsilon"], 0.0)


def torch_adamw(hyper, parameters):
    return adam_with(hyper, parameters, hyper["eps"], hyper["weight_decay"])


def lion(hyper, parameters):
    numbers = {"update_capping": 0.0, "weight_decay": hyper["weight_decay"]}

    def make(rate, dtype):
        return optimizers.sharded_lion(rate, hyper["beta1"], hyper["beta2"], m_dtype=dtype, **numbers)

    return OnePerParameter(lambda parameter: Parameter(parameter, make), parameters)


def adafactor(hyper, parameters):
    numbers = {
        "weight_decay": hyper["weight_decay"],
        "layerwise_adaptation": False,
        "decay_method": "pow",
        "decay_adam": 0.0,
        "decay_pow": -hyper["beta2_decay"],
        "beta1": 0.0,
        "clip_threshold": hyper["d"],
        "factored": True,
        "epsilon1_grad_sq_reg": hyper["eps1"],
        "quantized_dtype": jnp.float32,
        "respect_skip_lp_regularization": False,
        "exclude_from_layerwise_adaptation": None,
        "per_var_learning_summary": False,
        "sort_factored_second_moment_dims": False,
        "min_dim_size_to_factor": 128,
        "multiply_by_parameter_scale": True,
        "epsilon2_param_scale_reg": hyper["eps2"],
        "maybe_inf_to_nan": True,
        "name": "",
    }
    return OnePerParameter(
        lambda parameter: Parameter(parameter, lambda rate, _: optimizers.sharded_adafactor(rate, **numbers)),
        parameters,
    )


def moving_average(hyper, parameters):
    wide, transformation = parameters[0].dtype == np.float64, optimizers.apply_ema_weights(hyper["decay"])

    def arrays(given):
        return [jnp.array(parameter) for parameter in given]

    with jax.enable_x64(wide):
        states = [transformation.init(arrays(parameters))]

    def update(given):
        with jax.enable_x64(wide):
            _, states[0] = transformation.update(None, states[0], arrays(given))

    return Average(update, lambda: [np.array(average) for average in states[0].ema])


class Target(Library):
    distribution = "praxis"
    rules = {
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
        "papers.lion": lion,
        "torch.adafactor": adafactor,
    }
    wrappers = {"exponential_moving_average": moving_average}
    pinned = {
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.adafactor": {"maximize": False},
        "exponential_moving_average": {"scheduled": True},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject == "torch.adafactor" and dtype != "float32":
            return "Adafactor casts gradients to float32"
        return super().unsupported(subject, hyper, dtype)

    def refusal(self, subject, hyper):
        if subject == "torch.adafactor" and not hyper["beta2_decay"]:
            return "decay_pow must be above 0"
        return None
