"""TensorFlow's training kernels as a target, on the CPU."""

from __future__ import annotations

import os
from importlib import metadata

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before it is imported

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.tensorflow.table import ABSENT, ENGINES


class TensorflowTarget(TableTarget):
    """The kernels of ``tf.raw_ops``. ``engine`` is ``v1`` or ``v2``, as in the table.

    Kernels read the learning rate and all other numbers in the dtype of the variable, and are given them so.
    """

    name = "tensorflow"
    version = metadata.version("tensorflow-cpu")
    absent, engine_names, tables = ABSENT, tuple(ENGINES), ENGINES


target = TensorflowTarget()
