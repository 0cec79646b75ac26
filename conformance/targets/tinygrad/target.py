"""tinygrad as a target, on the CPU: kernels that clang compiles as they are needed."""

from __future__ import annotations

import os
from importlib import metadata

os.environ.setdefault("DEV", "CPU")  # before it is imported
os.environ.setdefault("PARALLEL", "0")  # of the processes that compile

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.tinygrad.rules import DTYPES
from optimetry.conformance.targets.tinygrad.table import OFFERS


class TinygradTarget(TableTarget):
    """``tinygrad.nn.optim``. ``engine`` is ``apart``, or ``fused``: all parameters as one array, as with FUSE_OPTIM."""

    name = "tinygrad"
    version = metadata.version("tinygrad")
    offers = OFFERS
    engine_names = ("apart", "fused")
    dtypes = DTYPES

    @property
    def cannot(self) -> tuple[str, ...]:
        """What tinygrad raises errors for: its learning rate has one dimension, and 0-d parameters have none."""
        return ("missing gradients",) if self.engine == "fused" else ("missing gradients", "0-d parameters")


target = TinygradTarget()
