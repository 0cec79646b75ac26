"""Runs of Optax' clips, weight decay and average, all of which are gradient transformations.

An average of parameters is a transformation fed parameters in place of updates. The training loop keeps its result, so
applying and restoring are assignments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.jax_caches import caches, configured, dtypes_of
from optimetry.conformance.targets.offers import Offer, lopsided
from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class OptaxWrapper(Offer):
    """Maps one documented wrapper to a transformation of Optax."""

    make: Callable[[Hyper], Any]
    """The transformation for the documented hyperparameters."""
    apart: bool = False
    """Whether each array has a transformation of its own."""
    averages: bool = False
    """Whether it is fed parameters."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why Optax does not offer these hyperparameters."""
        if lopsided(hyper):
            return "optax.clip clips to [-c, c] only"
        return "optax.ema has no schedule of the decay" if hyper.get("scheduled") else None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Transformation:
        """Begin a run."""
        caches.used(subject, *dtypes_of(parameters))
        return (Averaging if self.averages else Transformation)(self, hyper, parameters, compiled=engine == "jit")


class Transformation:
    """One transformation with its state, of all arrays together or of each alone."""

    def __init__(self, wrapper: OptaxWrapper, hyper: Hyper, parameters: Sequence[Array], compiled: bool) -> None:
        self._wide = compiled or any(array.dtype == np.float64 for array in parameters)
        self._numbers = {name: value for name, value in hyper.items() if isinstance(value, float)}
        self._update = compiled_update(wrapper.make) if compiled else functools.partial(update, wrapper.make)
        with configured(self._wide):
            held = [jax.numpy.array(array) for array in parameters]
            self._parts = [[array] for array in held] if wrapper.apart else [held]
            self._states = [wrapper.make(hyper).init(part) for part in self._parts]

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the transformation's result for these updates."""
        with configured(self._wide):
            remaining = iter(grads)
            transformed: list[Array] = []
            for i, part in enumerate(self._parts):
                fed = [jax.numpy.array(next(remaining)) for _ in part]
                results, self._states[i] = self._update(fed, self._states[i], part, self._numbers)
                transformed += [np.array(result) for result in results]
        return transformed


class Averaging(Transformation):
    """A transformation of parameters."""

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
        """Return the leaves of the state."""
        return {"state": [np.array(leaf) for leaf in jax.tree_util.tree_leaves(self._states)]}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state`` returned."""
        with configured(self._wide):
            leaves = [jax.numpy.array(leaf) for leaf in state["state"]]
            self._states = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(self._states), leaves)


def update(make: Callable[[Hyper], Any], fed: Any, state: Any, parameters: Any, numbers: Mapping[str, Any]) -> Any:
    """Call the transformation, and return its result and its state."""
    return make(numbers).update(fed, state, parameters)


@functools.cache
def compiled_update(make: Callable[[Hyper], Any]) -> Callable[..., Any]:
    """`update`, compiled once for each list of shapes; numbers are arguments of what is compiled."""
    compiled: Callable[..., Any] = jax.jit(functools.partial(update, make))
    return compiled
