"""One test for each optimizer, dtype and engine of the target that ``--optimizer-target`` names."""

from __future__ import annotations

from collections.abc import Callable


def test_engine_computes_the_documented_rule(optimetry_check: Callable[[], None]) -> None:
    optimetry_check()
