"""Optax' clips, weight decay and average: gradient transformations, all of them.

An average of parameters is `optax.ema` fed parameters in place of updates; it corrects for the start at zero unless it
is told not to. What it gives is kept by whoever trains, so applying and restoring is an assignment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
import optax

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.optax.target import configured
from optimetry.conformance.targets.protocol import Hyper

ABSENT: Mapping[str, str] = {
    "dgc_compress": "optax has no deep gradient compression",
    "l1_decay": "optax has no L1 decay",
    "model_average": "optax has no average over windows",
}

MAKE: Mapping[str, Callable[..., Any]] = {
    "clip_by_value": lambda hyper: optax.clip(hyper["max"]),
    "clip_by_norm": lambda hyper: optax.clip_by_global_norm(hyper["clip_norm"]),  # of one gradient at a time
    "clip_by_global_norm": lambda hyper: optax.clip_by_global_norm(hyper["clip_norm"]),
    "l2_decay": lambda hyper: optax.add_decayed_weights(hyper["regularization_coeff"]),
    "clip_then_decay": lambda hyper: optax.chain(
        optax.clip_by_global_norm(hyper["clip_norm"]), optax.add_decayed_weights(hyper["regularization_coeff"])
    ),
    "exponential_moving_average": lambda hyper: optax.ema(hyper["decay"], debias=True),
}
"""The transformation for the documented hyperparameters."""


def unsupported(wrapper: str, hyper: Hyper) -> str | None:
    """Why Optax does not offer this wrapper or these hyperparameters."""
    if wrapper not in MAKE:
        return ABSENT[wrapper]
    if wrapper == "clip_by_value" and hyper["min"] != -hyper["max"]:
        return "optax.clip clips to [-c, c] only"
    if hyper.get("scheduled"):
        return "optax.ema has no schedule of the decay"
    return None


class Transformation:
    """One transformation with its state, of all arrays together or of each alone."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array], compiled: bool) -> None:
        self._wide = compiled or any(array.dtype == np.float64 for array in parameters)
        self._numbers = {name: value for name, value in hyper.items() if isinstance(value, float)}
        self._update = compiled_update(wrapper) if compiled else functools.partial(update, wrapper)
        with configured(self._wide):
            held = [jax.numpy.array(array) for array in parameters]
            self._parts = [[array] for array in held] if wrapper == "clip_by_norm" else [held]
            self._states = [MAKE[wrapper](hyper).init(part) for part in self._parts]

    def transform(self, grads: list[Array]) -> list[Array]:
        """What the transformation gives for these updates."""
        with configured(self._wide):
            rest = iter(grads)
            given: list[Array] = []
            for i, part in enumerate(self._parts):
                fed = [jax.numpy.array(next(rest)) for _ in part]
                results, self._states[i] = self._update(fed, self._states[i], part, self._numbers)
                given += [np.array(result) for result in results]
        return given


class Average(Transformation):
    """``optax.ema`` of the parameters."""

    def update(self, parameters: list[Array]) -> None:
        """Feed the parameters."""
        self._training = [np.array(array) for array in parameters]
        self._averages = self.transform(parameters)

    def apply(self) -> list[Array]:
        """The averages."""
        return [array.copy() for array in self._averages]

    def restore(self) -> list[Array]:
        """The parameters."""
        return [array.copy() for array in self._training]

    def state(self) -> dict[str, list[Array]]:
        """The leaves of the state."""
        return {"state": [np.array(leaf) for leaf in jax.tree_util.tree_leaves(self._states)]}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state`` returned."""
        with configured(self._wide):
            leaves = [jax.numpy.array(leaf) for leaf in state["state"]]
            self._states = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(self._states), leaves)


def update(wrapper: str, fed: Any, state: Any, parameters: Any, numbers: Mapping[str, Any]) -> Any:
    """One update of a transformation made for these numbers."""
    return MAKE[wrapper](numbers).update(fed, state, parameters)


@functools.cache
def compiled_update(wrapper: str) -> Callable[..., Any]:
    """`update`, compiled once for each list of shapes; numbers are arguments of what is compiled."""
    compiled: Callable[..., Any] = jax.jit(functools.partial(update, wrapper))
    return compiled


def start(wrapper: str, hyper: Hyper, parameters: Sequence[Array], compiled: bool) -> Transformation:
    """Begin a run of a wrapper."""
    reason = unsupported(wrapper, hyper)
    if reason is not None:
        raise ValueError(f"{wrapper}: {reason}")
    return (Average if "decay" in hyper else Transformation)(wrapper, hyper, parameters, compiled)
