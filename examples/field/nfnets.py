"""nfnets-pytorch: normalizer-free networks, and the descent with adaptive clipping that they are trained with."""

from __future__ import annotations

import collections
from collections.abc import Iterable

from examples.field.torch_classes import TorchClasses

collections.Iterable = Iterable  # type: ignore[attr-defined]  # where Python 3.9 had it, for which it was written

from nfnets.sgd_agc import SGD_AGC  # noqa: E402


class Target(TorchClasses):
    distribution = "nfnets-pytorch"
    rules = {"torch.sgd": (SGD_AGC, {}), "momentum": (SGD_AGC, {}), "sgd": (SGD_AGC, {})}
