"""PaddlePaddle as a target: the dygraph classes of ``paddle.optimizer`` and, where there is none, bare operators."""

from __future__ import annotations

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.paddle.library import VERSION
from optimetry.conformance.targets.paddle.table import ABSENT, OFFERS


class PaddleTarget(TableTarget):
    """PaddlePaddle in dygraph mode on the CPU."""

    name = "paddle"
    version = VERSION
    offers, absent = OFFERS, ABSENT


target = PaddleTarget()
