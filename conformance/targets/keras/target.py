"""Keras (``keras.optimizers``) as a target: its backends torch, jax, numpy and tensorflow, judged apart.

Keras settles its backend when it is imported, so each backend runs in a process of its own, started by the first run
that needs it. This is the client side; the server side is `optimetry.conformance.targets.keras.process`, which is named
here and not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata, util
from typing import Self

from optimetry.conformance.targets.keras.table import ABSENT, OFFERS
from optimetry.conformance.targets.offers import TableTarget

BESIDE = {"numpy": "scipy"}


class KerasTarget(TableTarget):
    """``keras.optimizers`` on the CPU. ``engine`` is the backend: ``torch``, ``jax``, ``numpy`` or ``tensorflow``.

    ``floatx`` is set to the parameters' dtype, the way Keras documents for float64; with its default, Keras holds every
    learning rate in float32.

    One optimizer updates all parameters, as in training, until one of them has no gradient. Keras counts the steps of
    an optimizer, not of a parameter, and refuses a step without any gradient. So those without a gradient then get an
    optimizer of their own, which continues from their state and takes no step.
    """

    name = "keras"
    version = metadata.version("keras")
    offers, absent, engine_names = OFFERS, ABSENT, ("torch", "jax", "numpy", "tensorflow")

    def engines(self) -> Sequence[Self]:
        """One target for each backend that is installed; the one for NumPy, which Keras brings, needs SciPy."""
        return [engine for engine in super().engines() if util.find_spec(BESIDE.get(engine.engine, engine.engine))]


target = KerasTarget()
