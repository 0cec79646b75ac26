"""Compiled steps of Optax for benchmarks, on arrays of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import optax

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.optax.rules import OptaxRule
from optimetry.conformance.targets.peers import TimedStep
from optimetry.conformance.targets.protocol import Hyper

UNROLLED = 1_000
"""The most tensors that Optax is given: jit unrolls them, and compiling ten thousand takes over ten minutes."""


def steps(
    offer: Any, rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield one step of all tensors, compiled, in place."""
    if not isinstance(offer, OptaxRule) or len(parameters) > UNROLLED:
        return
    jax.config.update("jax_enable_x64", True)
    transformation = offer.cls(lr, **offer.keywords(hyper))
    held = [jax.numpy.array(array) for array in parameters]
    gradients = [jax.numpy.array(array) for array in grads]

    def update(held: Any, state: Any, gradients: Any) -> Any:
        updates, state = transformation.update(gradients, state, held)
        return optax.apply_updates(held, updates), state

    compiled = jax.jit(update, donate_argnums=(0, 1))
    # A state may begin with the parameters themselves, and no array is given away twice.
    box = [held, jax.tree_util.tree_map(jax.numpy.array, transformation.init(held))]

    def step() -> None:
        box[:] = compiled(*box, gradients)
        jax.block_until_ready(box)

    yield "jit", step
