"""Haiku: networks as functions on JAX, without float64 by default, with averages of all parameters."""

from __future__ import annotations

import haiku
import jax.numpy as jnp
import numpy as np

from examples.field.helpers import Average, Library


def exponential_moving_average(hyper, parameters):
    @haiku.transform_with_state
    def averaged(tree):
        return haiku.EMAParamsTree(hyper["decay"])(tree)  # a module is made inside of a transformed function

    held = {}

    def update(fed):
        tree = {"model": {f"parameter{i}": jnp.array(value) for i, value in enumerate(fed)}}
        if not held:
            held["state"] = averaged.init(None, tree)[1]
        held["averages"], held["state"] = averaged.apply(None, held["state"], None, tree)

    def averages():
        return [np.array(x) for x in held["averages"]["model"].values()]

    return Average(update, averages)


class Target(Library):
    distribution = "dm-haiku"
    dtypes = ("float32",)
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}
