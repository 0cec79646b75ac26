"""PaddlePaddle 2 as a target of its own, so that both releases have results, ledgers and findings."""

from __future__ import annotations

from optimetry.conformance.targets.paddle.library import VERSION
from optimetry.conformance.targets.paddle.target import PaddleTarget

if not VERSION.startswith("2."):
    raise ModuleNotFoundError(f"this is PaddlePaddle {VERSION}, not 2", name="paddlepaddle 2")


class Paddle2Target(PaddleTarget):
    """The table and the runs of ``paddle``; what the release lacks is unsupported, by name."""

    name = "paddle2"


target = Paddle2Target()
