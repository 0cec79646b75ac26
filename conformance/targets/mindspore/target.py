"""MindSpore as a target, on the CPU."""

from __future__ import annotations

import os
from contextlib import suppress

os.environ.setdefault("MS_JIT", "0")  # each optimizer is compiled anew otherwise, which takes up to seconds
os.environ.setdefault("GLOG_v", "4")  # its log, of which nothing is wanted

import mindspore

from optimetry.conformance.targets.mindspore.table import ABSENT, ENGINES
from optimetry.conformance.targets.offers import TableTarget

mindspore.set_context(pynative_synchronize=True)  # else four threads turn while they wait for a few elements

# 2.10.0 is compiled for NumPy 1: beside NumPy 2, the first such product of a process raises.
with suppress(SystemError):
    mindspore.Tensor([1.0]) * 1.0


class MindsporeTarget(TableTarget):
    """Optimizers of MindSpore on the CPU, uncompiled. ``engine`` is ``nn`` or ``experimental``, as in the table.

    One optimizer updates all parameters, none of which may be left out.
    """

    name = "mindspore"
    version = mindspore.__version__
    absent, engine_names, tables = ABSENT, tuple(ENGINES), ENGINES

    @property
    def cannot(self) -> tuple[str, ...]:
        """What MindSpore raises errors for: no state begins empty, and some kernels of `nn` take no 0-d parameters."""
        every = ("missing gradients", "empty parameters")
        return (*every, "0-d parameters") if self.engine == "nn" else every


target = MindsporeTarget()
