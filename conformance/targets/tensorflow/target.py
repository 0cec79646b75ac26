"""TensorFlow's training kernels as a target, on the CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before it is imported

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.tensorflow.table import ABSENT, ENGINES

if TYPE_CHECKING:
    from optimetry.conformance.targets.offers import Offer


class TensorflowTarget(TableTarget):
    """The kernels of ``tf.raw_ops``. ``engine`` is ``v1`` or ``v2``, as in the table.

    Kernels read the learning rate and all other numbers in the dtype of the variable, and are given them so.
    """

    name = "tensorflow"
    version = metadata.version("tensorflow-cpu")
    absent, engine_names = ABSENT, tuple(ENGINES)

    @property
    def offers(self) -> Mapping[str, Offer]:  # type: ignore[override]
        """The table of this engine."""
        return ENGINES[self.engine]


target = TensorflowTarget()
