"""PyTorch (``torch.optim``) as a target: the single-tensor, foreach and fused implementations, judged apart."""

from __future__ import annotations

import torch

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.torch.rules import ENGINES
from optimetry.conformance.targets.torch.table import ABSENT, OFFERS


class TorchTarget(TableTarget):
    """PyTorch on the CPU. ``engine`` is ``single``, ``foreach`` or ``fused``."""

    name = "torch"
    version = torch.__version__.split("+")[0]
    offers, absent, engine_names = OFFERS, ABSENT, tuple(ENGINES)


target = TorchTarget()
