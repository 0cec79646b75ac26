"""Gradients under a loss scale, and those of the parts of a batch, give the step of the batch's gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.laws.variations import switched_on
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.batches import ACCUMULATED, SCALED
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import breaches


@pytest.mark.parametrize("law", [SCALED, ACCUMULATED])
@pytest.mark.parametrize("optimizer", ["torch.adamw", "clip_by_global_norm", "clip_then_decay", "l2_decay"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_the_reference_holds_both_laws(law: str, optimizer: str, dtype: str) -> None:
    assert breaches(law, NumpyTarget(), optimizer, dtype) == []


@pytest.mark.parametrize("law", [SCALED, ACCUMULATED])
def test_torch_holds_both_laws_in_its_engines(law: str) -> None:
    for engine in engines_of(load_target("torch")):
        assert breaches(law, engine, "torch.adamw", count=2) == []


def test_torch_uses_memory_that_it_has_not_written_where_a_fused_first_step_overflows() -> None:
    """``_fused_sgd`` makes momentum's buffer in its first call, and the kernel leaves it where that step is skipped."""
    engines = {engine.engine: engine for engine in engines_of(load_target("torch"))}
    assert breaches(SCALED, engines["single"], "momentum", count=4) == []
    assert any(
        text.startswith("nan against ") or " against nan" in text
        for text in breaches(SCALED, engines["fused"], "momentum", count=4)
    )


def test_torch_has_no_loss_scale_for_float16_gradients() -> None:
    case = next(iter(drawn_cases(SUBJECTS["sgd"], "float16", seed=0, count=1)))
    run: Any = load_target("torch").start("sgd", case.hyper, [np.array(array) for array in case.parameters])
    assert not hasattr(run, "step_scaled")
    assert not hasattr(run, "step_accumulated")


def test_what_takes_neither_is_not_asked() -> None:
    class Plain(NumpyTarget):
        def start(self, optimizer: str, hyper: Any, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)
            return type("Run", (), {"step": staticmethod(run.step)})()

    assert breaches(SCALED, Plain(), "sgd") == breaches(ACCUMULATED, Plain(), "sgd") == []


def test_the_mean_may_be_formed_in_any_way() -> None:
    class Running(NumpyTarget):
        """Keeps a running mean, begun at zero."""

        def start(self, optimizer: str, hyper: Any, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)

            def step_accumulated(parts: list[list[Array | None]], rate: float) -> list[Array]:
                mean: list[Array | None] = [None if grad is None else np.zeros_like(grad) for grad in parts[0]]
                for i, part in enumerate(parts):
                    pairs = zip(mean, part, strict=True)
                    mean = [
                        None if m is None or g is None else np.array(m + (g - m) / (i + 1), g.dtype) for m, g in pairs
                    ]
                return run.step(mean, rate)

            run.step_accumulated = step_accumulated  # type: ignore[method-assign,assignment]
            return run

    assert breaches(ACCUMULATED, Running(), "adam", count=8) == []


def test_options_that_have_no_effect_are_switched_on() -> None:
    cases = drawn_cases(SUBJECTS["torch.adamw"], "float32", seed=0, count=3)
    assert {case.hyper["weight_decay"] for case in cases} == {0.0}
    for case in drawn_cases(SUBJECTS["torch.adamw"], "float32", seed=0, count=3):
        changed = switched_on(Trial(NumpyTarget(), case, Guard())).case
        assert changed.hyper["weight_decay"] == 0.01
        kept = {name: x for name, x in case.hyper.items() if x or isinstance(x, bool)}
        assert changed.hyper.items() >= kept.items()
