"""Makes targets of optimizers in plain JAX: functions that make a triple, as those of ``jax.example_libraries`` do.

A triple is ``init(parameter)``, ``update(step, gradient, state)`` and ``get_params(state)``, all pure, so the one with
this step's learning rate continues from the state of the one before. Every parameter has a state of its own, or all
are one tree.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.fitting import Fit, Taken
from optimetry.conformance.targets.jax_caches import caches, configured, dtypes_of, each
from optimetry.conformance.targets.offers import ClassOffer
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.trees import LACKING, TREE, InOneTree


@dataclass(frozen=True, kw_only=True)
class Triple(ClassOffer):
    """A function that makes a triple, fitted to a rule."""

    rate: str
    """Its argument that is the learning rate."""

    def made(self, learning_rate: Any, keywords: Mapping[str, Any]) -> Any:
        """Return the three functions."""
        triple = self.cls(**{self.rate: learning_rate}, **keywords)
        if not isinstance(triple, tuple) or len(triple) != 3 or not all(map(callable, triple)):
            raise TypeError(f"it made a {type(triple).__name__}, must be the three functions init, update, get_params")
        return triple

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the function says where it raises a ValueError, None where it does not."""
        return self.refused(**{self.rate: 1.0}, **self.keywords(hyper))

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> TripleRun | InOneTree:
        """Begin a run, of all parameters in one tree on the engine `TREE`."""
        caches.used(subject, *dtypes_of(parameters))
        wide = any(parameter.dtype == np.float64 for parameter in parameters)
        begin = functools.partial(TripleRun, self, self.keywords(hyper), wide)
        return InOneTree(begin, parameters) if engine == TREE else begin(parameters)


class TripleRun:
    """A state of the triple for each parameter, which may be a tree of arrays, updated operation by operation.

    A triple is made once for each learning rate, so that what it compiles is compiled once.
    """

    def __init__(self, offer: Triple, keywords: Mapping[str, Any], wide: bool, parameters: Sequence[Any]) -> None:
        self._wide = wide
        self._made = functools.cache(functools.partial(offer.made, keywords=keywords))
        self._counts = [0] * len(parameters)
        with configured(self._wide):
            init = self._made(0.0)[0]
            self._states = [init(each(jax.numpy.array, parameter)) for parameter in parameters]

    def step(self, grads: Sequence[Any], learning_rate: float) -> list[Any]:
        """Update each parameter whose gradient is not None."""
        with configured(self._wide):
            _, update, parameters = self._made(float(learning_rate))
            for i, grad in enumerate(grads):
                if grad is not None:
                    self._states[i] = update(self._counts[i], each(jax.numpy.array, grad), self._states[i])
                    self._counts[i] += 1
            return [each(np.array, parameters(state)) for state in self._states]


def engines(make: Any, taken: Sequence[Taken]) -> tuple[str, ...]:
    """Return how it can be run."""
    return ("default", TREE)


def offer(make: Any, fit: Fit) -> Triple:
    """Return the offer of a function."""
    return Triple(make, **fit.fields, rate=fit.rate)


KIND = "a function that makes init, update and get_params, as those of jax.example_libraries.optimizers do"

MAKER = Maker(KIND, f"jax {jax.__version__}", {}, offer, engines=engines, lacking=LACKING)
