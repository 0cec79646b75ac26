"""Optax on JAX as a target: its gradient transformations, operation by operation and compiled, judged apart."""

from __future__ import annotations

import optax

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.optax.table import ABSENT, OFFERS


class OptaxTarget(TableTarget):
    """Optax on the CPU. ``engine`` is ``eager`` or ``jit``.

    ``eager`` runs one JAX operation after the other, in JAX' default configuration. That has no float64, so 64-bit
    types are switched on for float64 parameters, and only while these are updated.

    ``jit`` compiles each update with 64-bit types switched on for every dtype. Only then can hyperparameters be
    arguments of the compiled function instead of constants, to the same bits: compiling takes longer than a whole run,
    and every case has hyperparameters of its own. Beside float32 parameters this changes one thing, the powers of
    Adam's, Adamax' and LAMB's bias corrections are formed in float64.
    """

    name = "optax"
    version = optax.__version__
    offers, absent, engine_names = OFFERS, ABSENT, ("eager", "jit")


target = OptaxTarget()
