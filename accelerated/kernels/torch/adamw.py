"""AdamW of torch.optim: its Adam with a decoupled decay."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.kernels.torch import adam
from optimetry.reference.books.torch.adam import Adam
from optimetry.reference.books.torch.adamw import AdamW


def kernel(rule: AdamW) -> Kernel:
    """Return the kernel of AdamW."""
    return adam.kernel(Adam.of({**rule.hyper(), "decoupled_weight_decay": True}))
