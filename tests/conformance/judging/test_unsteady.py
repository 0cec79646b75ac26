"""Targets whose runs of one case differ: by flushed subnormals, which are arithmetic, or by a rule."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from optimetry.conformance.selftest.faults.hooks import HookedRun, Hooks
from optimetry.conformance.selftest.instead import Instead
from tests.conformance.judged import QUICK, flushed, verdict_of


def flushing_in_turn(optimizer: str, every: int, which: int, scale: float = 1.0) -> Instead:
    """A target that flushes subnormals and scales gradients in one of so many runs, and neither in the others."""
    runs = count()

    def begin(rule: Any, parameters: list[Any]) -> HookedRun:
        if next(runs) % every != which:
            return HookedRun(rule, parameters, Hooks())
        return HookedRun(rule, parameters, Hooks(gradient=lambda x: x.dtype.type(scale) * flushed(x), slot=flushed))

    return Instead(begin, optimizer)


@pytest.mark.parametrize(("optimizer", "every", "which"), [("torch.sgd", 3, 1), ("momentum", 5, 2)])
def test_a_planted_flush_in_some_runs_is_flushing(optimizer: str, every: int, which: int) -> None:
    """MindSpore does so: whether a thread of its pool flushes depends on what ran before. New runs need not flush."""
    verdict = verdict_of(flushing_in_turn(optimizer, every, which), optimizer, effort=QUICK)
    assert (verdict.verdict, str(verdict.computes)) == ("conforms", "documented; flushes subnormals"), verdict.reason


@pytest.mark.parametrize(("optimizer", "every", "which"), [("torch.sgd", 3, 1), ("momentum", 5, 2)])
def test_a_planted_scale_in_some_runs_has_no_name(optimizer: str, every: int, which: int) -> None:
    target = flushing_in_turn(optimizer, every, which, scale=1 + 2.0**-12)
    verdict = verdict_of(target, optimizer, effort=QUICK)
    assert (verdict.verdict, verdict.law, verdict.computes.rule) == ("diverges", "repeatable", None), verdict.reason
