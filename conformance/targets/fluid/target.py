"""PaddlePaddle 1.8.5 as a target, on the CPU."""

from __future__ import annotations

import os

os.environ.setdefault("FLAGS_initial_cpu_memory_in_mb", "32")  # before it is imported: 500 are taken otherwise

import paddle
import paddle.fluid  # newer releases have none

from optimetry.conformance.targets.fluid.rules import DYGRAPH, STATIC
from optimetry.conformance.targets.fluid.table import ABSENT, OFFERS
from optimetry.conformance.targets.offers import TableTarget


class FluidTarget(TableTarget):
    """``fluid.optimizer``, ``fluid.clip`` and ``fluid.regularizer``. ``engine`` is ``static`` or ``dygraph``."""

    name = "fluid"
    version = paddle.__version__
    offers, absent = OFFERS, ABSENT
    engine_names = (STATIC, DYGRAPH)

    @property
    def cannot(self) -> tuple[str, ...]:
        """What fluid has not: a tensor has an axis and an element, and a gradient that was cleared in dygraph is 0."""
        shapes = ("0-d parameters", "empty parameters")
        return ("missing gradients", *shapes) if self.engine == DYGRAPH else shapes


target = FluidTarget()
