"""MLX as a target, on the CPU."""

from __future__ import annotations

from importlib import metadata

import mlx.core as mx

from optimetry.conformance.targets.mlx.table import ABSENT, OFFERS
from optimetry.conformance.targets.offers import TableTarget

mx.set_default_device(mx.cpu)


class MlxTarget(TableTarget):
    """``mlx.optimizers`` on the CPU, the one device on which MLX has float64."""

    name = "mlx"
    version = metadata.version("mlx")
    offers, absent = OFFERS, ABSENT


target = MlxTarget()
