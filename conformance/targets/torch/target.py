"""PyTorch (``torch.optim``) as a target: loop, foreach, fused and differentiable, each an engine of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.rules import ENGINES, TorchGroups
from optimetry.conformance.targets.torch.table import ABSENT, OFFERS


class TorchTarget(TableTarget):
    """PyTorch on the CPU. ``engine`` is ``single``, ``foreach``, ``fused`` or ``differentiable``."""

    name = "torch"
    version = torch.__version__.split("+")[0]
    offers, absent, engine_names = OFFERS, ABSENT, tuple(ENGINES)
    mixes_dtypes = strided = True

    def start_groups(self, optimizer: str, groups: Sequence[tuple[Hyper, list[Array]]]) -> TorchGroups:
        """Begin a run of a rule over groups of parameters."""
        offer: Any = self.offers[optimizer]  # of a rule: a TorchClass
        run: TorchGroups = offer.start_groups(groups, self.engine)
        return run


target = TorchTarget()
