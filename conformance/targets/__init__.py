"""Targets: the frameworks that are judged, one folder each, imported only when named; and targets of one's own."""

from __future__ import annotations

from optimetry.conformance.targets.own import for_jax, for_keras, for_numpy, for_optax, for_torch

__all__ = ["for_jax", "for_keras", "for_numpy", "for_optax", "for_torch"]
