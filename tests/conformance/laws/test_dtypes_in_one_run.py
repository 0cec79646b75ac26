"""Runs of two dtypes: each parameter is updated as in its own dtype."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.dtypes import DTYPES
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.reference.rule import Rule
from tests.conformance import judged

breaches = partial(judged.breaches, DTYPES)


class GroupsByDtype:
    """Steps the parameters of each dtype together, as multi-tensor kernels do, and brings them back in order."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        self.places: dict[Any, list[int]] = {}
        for i, parameter in enumerate(parameters):
            self.places.setdefault(parameter.dtype, []).append(i)
        self.runs = [RuleRun(rule, [parameters[i] for i in places]) for places in self.places.values()]

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        """One update of every dtype's parameters."""
        after: dict[int, Array] = {}
        for run, places in zip(self.runs, self.places.values(), strict=True):
            after |= dict(zip(places, run.step([grads[i] for i in places], learning_rate), strict=True))
        return [after[i] for i in range(len(after))]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_the_reference_and_an_engine_that_groups_by_dtype_keep_them_apart(dtype: str) -> None:
    grouping = Instead(GroupsByDtype, "adam")  # type: ignore[arg-type]
    assert breaches(NumpyTarget(), "torch.adamw", dtype) == []
    assert breaches(grouping, "adam", dtype) == []


@pytest.mark.parametrize("optimizer", ["torch.adamw", "torch.adafactor", "momentum"])
def test_a_framework_keeps_dtypes_apart_in_every_engine(optimizer: str) -> None:
    offered = [engine for engine in engines_of(load_target("torch")) if _offers(engine, optimizer)]
    assert len(offered) >= 2
    assert [text for engine in offered for text in breaches(engine, optimizer, count=1)] == []


def _offers(engine: Target, optimizer: str) -> bool:
    (case,) = drawn_cases(SUBJECTS[optimizer], "float32", seed=0, count=1)
    return reason_unsupported(engine, case) is None


def test_what_is_given_in_the_wrong_dtype_is_a_difference_too() -> None:
    class Widens(RuleRun):
        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            after = super().step(grads, learning_rate)
            widest = np.result_type(*after)
            return [array.astype(widest) for array in after]

    (text, *_) = breaches(Instead(Widens, "sgd"), "sgd")  # type: ignore[arg-type]
    assert text.startswith("in a run of two dtypes: step 1 returned parameter 0 as float64 of shape ")


def test_what_fails_in_the_other_dtype_alone_says_nothing_of_two() -> None:
    class Float32Alone(RuleRun):
        def __init__(self, rule: Rule, parameters: list[Array]) -> None:
            if all(parameter.dtype == np.float64 for parameter in parameters):
                raise TypeError("float64")
            super().__init__(rule, parameters)

    assert breaches(Instead(Float32Alone, "sgd"), "sgd") == []  # type: ignore[arg-type]


def test_what_mixes_no_dtypes_is_not_given_any() -> None:
    class Plain(NumpyTarget):
        mixes_dtypes = False

        def start(self, optimizer: str, hyper: Any, parameters: list[Array]) -> RuleRun:
            assert len({parameter.dtype for parameter in parameters}) <= 1
            return super().start(optimizer, hyper, parameters)

    assert breaches(Plain(), "sgd") == []


def test_the_wider_dtype_has_numbers_that_the_narrower_has_not() -> None:
    received: list[Array] = []

    class Watched(NumpyTarget):
        def start(self, optimizer: str, hyper: Any, parameters: list[Array]) -> RuleRun:
            received.extend(parameters)
            return super().start(optimizer, hyper, parameters)

    assert breaches(Watched(), "sgd", count=1) == []
    wide = np.concatenate([array.ravel() for array in received if array.dtype == np.float64])
    assert wide.size
    with np.errstate(over="ignore"):
        assert (wide.astype(np.float32).astype(np.float64) != wide).sum() > wide.size // 2
