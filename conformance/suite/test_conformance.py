"""Two tests for each optimizer, dtype and engine of the target that ``--optimizer-target`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimetry.conformance.plugin.checks import EngineCheck


def test_engine_computes_the_documented_rule(optimetry_check: EngineCheck) -> None:
    optimetry_check()


def test_engine_computes_it_on_cases_that_hypothesis_draws(optimetry_check: EngineCheck) -> None:
    optimetry_check.draw()
