"""Runs of Optax' transformations, operation by operation or compiled.

A transformation is a pair of pure functions, so the one with this step's learning rate continues from the state of the
one before. Every parameter has a state of its own, because Optax has no missing gradients: a parameter without one is
skipped. Its state begins with its first gradient, and with the learning rate of that step, which is Rprop's first step
size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import optax

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.jax_caches import caches, configured, dtypes_of, each
from optimetry.conformance.targets.offers import ClassOffer
from optimetry.conformance.targets.protocol import Hyper

BEGUN = "begun"
"""The part of a run's state that says which parameters have had a gradient."""


@dataclass(frozen=True)
class OptaxRule(ClassOffer):
    """Maps one documented rule to a function that makes a transformation; its first argument is the learning rate."""

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> OptaxRun:
        """Begin a run."""
        caches.used(subject, *dtypes_of(parameters))
        return OptaxRun(self, hyper, parameters, compiled=engine == "jit")


class OptaxRun:
    """One transformation, applied to each parameter that has a gradient; a parameter may be a tree of arrays."""

    def __init__(self, rule: OptaxRule, hyper: Hyper, parameters: Sequence[Array], compiled: bool) -> None:
        self._rule = rule
        keywords = self._rule.keywords(hyper)
        switches = {name: value for name, value in keywords.items() if isinstance(value, bool | str | None)}
        self._numbers = {name: value for name, value in keywords.items() if name not in switches}
        # Optax' control flow is compiled even operation by operation, and again for every transformation that is made;
        # so one serves all steps of its learning rate.
        made = self._made = functools.cache(functools.partial(rule.cls, **keywords))

        def uncompiled(parameter: Any, grad: Any, state: Any, learning_rate: Any, _: Any) -> tuple[Any, Any]:
            return applied(made(learning_rate), parameter, grad, state)

        self._update = compiled_update(rule.cls, tuple(switches.items())) if compiled else uncompiled
        self._wide = compiled or any(leaf.dtype == np.float64 for leaf in jax.tree_util.tree_leaves(list(parameters)))
        with configured(self._wide):
            self._parameters = [each(jax.numpy.array, parameter) for parameter in parameters]
            self._states = list(map(made(0.0).init, self._parameters))
        self._begun = [False] * len(parameters)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Update each parameter whose gradient is not None."""
        with configured(self._wide):
            for index, (parameter, grad) in enumerate(zip(self._parameters, grads, strict=True)):
                if grad is not None:
                    if not self._begun[index]:
                        self._states[index] = self._made(float(learning_rate)).init(parameter)
                        self._begun[index] = True
                    self._parameters[index], self._states[index] = self._update(
                        parameter,
                        each(jax.numpy.asarray, grad),
                        self._states[index],
                        float(learning_rate),
                        self._numbers,
                    )
            return [each(np.array, parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return every part of the state under its slot's name, or under Optax' where there is no slot."""
        slots: dict[str, list[Array]] = {BEGUN: [np.array(begun) for begun in self._begun]}
        for state in self._states:
            for path, value in jax.tree_util.tree_leaves_with_path(state):
                slots.setdefault(self._slot(path), []).append(_saved(value))
        return slots

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        self._begun = [bool(begun) for begun in state[BEGUN]]
        with configured(self._wide):
            self._states = [
                jax.tree_util.tree_map_with_path(
                    lambda path, leaf, i=index: _loaded(state[self._slot(path)][i], leaf), held
                )
                for index, held in enumerate(self._states)
            ]

    def _slot(self, path: Any) -> str:
        """Return what a part of the state is called: its slot, or else its whole path."""
        slots = {part: slot for slot, part in self._rule.slots.items()}
        return slots.get(getattr(path[-1], "name", "") if path else "", str(jax.tree_util.keystr(path)))


def _is_key(leaf: Any) -> bool:
    """Whether a part of a state is a key of a random generator, which no array operation takes."""
    return bool(jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _saved(leaf: Any) -> Array:
    """Return a part of a state as an array."""
    return np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _loaded(array: Array, leaf: Any) -> Any:
    """Return a saved part in the place of another."""
    kept = jax.numpy.array(array)
    return jax.random.wrap_key_data(kept, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else kept


def update(
    make: Callable[..., Any],
    switches: Mapping[str, bool],
    parameter: Any,
    grad: Any,
    state: Any,
    learning_rate: Any,
    numbers: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Return the parameter and its state after one step; ``switches`` and ``numbers`` are the keywords of ``make``."""
    return applied(make(learning_rate, **switches, **numbers), parameter, grad, state)


def applied(transformation: Any, parameter: Any, grad: Any, state: Any) -> tuple[Any, Any]:
    """Return the parameter and its state after one step of a transformation."""
    updates, state = transformation.update(grad, state, parameter)
    return optax.apply_updates(parameter, updates), state


@functools.cache
def compiled_update(make: Callable[..., Any], switches: tuple[tuple[str, bool], ...]) -> Callable[..., tuple[Any, Any]]:
    """`update` with one function, compiled once for each shape and dtype; numbers are arguments of what is compiled."""
    compiled: Callable[..., tuple[Any, Any]] = jax.jit(functools.partial(update, make, dict(switches)))
    return compiled
