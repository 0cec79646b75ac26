"""Arrays that lie otherwise than in rows: what targets are given, and what depends on it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import COLUMNS, GAPS, OFFSET, ROWS, engines_of, laid_out
from optimetry.conformance.laws.layouts import LAYOUTS
from optimetry.conformance.numerics.arrays import Array, alike
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.layouts import LAYOUT
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets import for_numpy, for_torch
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.protocol import reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule
from tests.conformance import judged

breaches = partial(judged.breaches, LAYOUT)

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


def lies(array: Array) -> str:
    """Return how a matrix lies in memory."""
    if array.flags.c_contiguous:
        return OFFSET if array.ctypes.data % 16 else ROWS
    return COLUMNS if array.flags.f_contiguous else GAPS


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("layout", [ROWS, COLUMNS, GAPS, OFFSET])
def test_an_array_is_copied_into_each_layout_and_with_its_own(layout: str, dtype: str) -> None:
    matrix = MATRIX.astype(FORMATS[dtype].dtype)
    array = laid_out(matrix, layout)
    again = alike(array)
    for copy in (array, again):
        assert lies(copy) == layout
        assert copy.tobytes() == matrix.tobytes()
        assert not np.shares_memory(copy, matrix)
    assert again.strides == array.strides
    assert again.ctypes.data % 64 == array.ctypes.data % 64
    assert not np.shares_memory(again, array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1)])
def test_what_has_at_most_one_element_is_copied_as_well(shape: tuple[int, ...]) -> None:
    for layout in (ROWS, COLUMNS, GAPS, OFFSET):
        array = laid_out(np.full(shape, 7.0), layout)
        assert alike(array).tobytes() == array.tobytes() == np.full(shape, 7.0).tobytes()


def test_a_target_is_given_every_layout_and_always_the_same_elements() -> None:
    seen: list[tuple[str, str]] = []
    elements = set()

    class Watched(RuleRun):
        def __init__(self, rule: Rule, parameters: list[Array]) -> None:
            super().__init__(rule, parameters)
            self.given = parameters

        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            if self.given[0].shape == (4, 6):
                ((param,), (grad,)) = self.given, grads
                assert grad is not None
                assert param.flags.writeable
                assert grad.flags.writeable
                seen.append((lies(param), lies(grad)))
                elements.add(param.tobytes())
            return super().step(grads, learning_rate)

    assert breaches(Instead(Watched, "sgd"), "sgd", count=1) == []  # type: ignore[arg-type]
    assert list(dict.fromkeys(seen)) == [(ROWS, ROWS), *LAYOUTS]
    assert len(elements) == 1


def test_each_pair_of_layouts_shows_a_fault_first() -> None:
    faults = [fault for fault in FAULTS.values() if fault.rejected_by == LAYOUT]
    texts = [breaches(fault.target(), fault.optimizer, count=1)[0] for fault in faults]
    (case,) = drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=1)
    shown = [case.replace(layouts=layouts).lying for layouts in LAYOUTS]
    assert sorted(text[: text.index(": ")] for text in texts) == sorted(shown)
    assert "parameters in columns, gradients in rows" in shown


def test_what_does_not_say_that_it_takes_them_is_given_rows_alone() -> None:
    class Plain(NumpyTarget):
        strided = False

        def start(self, optimizer: str, hyper: Any, parameters: list[Array]) -> RuleRun:
            assert all(array.flags.c_contiguous for array in parameters)
            return super().start(optimizer, hyper, parameters)

    assert breaches(Plain(), "sgd") == []


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("optimizer", ["adam", "ftrl", "torch.radam", "clip_by_value", "exponential_moving_average"])
def test_the_reference_follows_elements(optimizer: str, dtype: str) -> None:
    assert breaches(NumpyTarget(), optimizer, dtype) == []


@pytest.mark.parametrize("optimizer", ["torch.adamw", "torch.rprop", "torch.asgd", "clip_by_value"])
def test_torchs_own_operations_follow_elements(optimizer: str) -> None:
    """Its fused kernels on the CPU do not, which is in its ledger."""
    (case,) = drawn_cases(SUBJECTS[optimizer], "float32", seed=0, count=1)
    engines = [engine for engine in engines_of(load_target("torch")) if reason_unsupported(engine, case) is None]
    unfused = [engine for engine in engines if engine.engine != "fused"]
    assert unfused
    assert [text for engine in unfused for text in breaches(engine, optimizer, count=1)] == []


def test_a_sum_over_elements_may_follow_memory() -> None:
    """Its last digit is another in another order, which the bound of an elementwise formula does not allow for."""

    class Normalises(RuleRun):
        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            scaled = [g if g is None else np.asarray(g / self._norm(g)) for g in grads]
            return super().step(scaled, 1000 * learning_rate)

        @staticmethod
        def _norm(grad: Array) -> Array:
            total = grad.dtype.type(1)
            for element in grad.ravel("K"):
                total = total + element * element
            return np.sqrt(total)

    assert breaches(Instead(Normalises, "sgd"), "sgd") == []  # type: ignore[arg-type]
    (case,) = drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=1)
    grad = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    case = case.replace(parameters=(grad,), grads=((grad,),), learning_rates=(0.5,))
    rows, columns = (
        trajectory(Instead(Normalises, "sgd"), case.replace(layouts=(ROWS, layout)), Guard())  # type: ignore[arg-type]
        for layout in (ROWS, COLUMNS)
    )
    assert rows.tobytes() != columns.tobytes()


def test_a_layout_is_part_of_what_a_case_is() -> None:
    (case,) = drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=1)
    other = case.replace(layouts=(COLUMNS, ROWS))
    assert case.content != other.content
    assert Case.from_json(other.to_json()).layouts == (COLUMNS, ROWS)
    assert "layouts" not in case.to_json()
    assert Case.from_json(case.to_json()).layouts == (ROWS, ROWS)


class Ravels:
    """SGD on a vector, which is the parameter itself where that is contiguous."""

    def __init__(self, lr: float = 0.1) -> None:
        self.lr = lr

    def update(self, params: list[Array], grads: list[Array]) -> None:
        for param, grad in zip(params, grads, strict=True):
            vector = param.ravel()
            vector -= param.dtype.type(self.lr) * grad.ravel()


class InPlace(Ravels):
    """SGD as it should be."""

    def update(self, params: list[Array], grads: list[Array]) -> None:
        for i, grad in enumerate(grads):
            params[i] -= grad.dtype.type(self.lr) * grad


class Reshapes(torch.optim.Optimizer):
    """The same in torch."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    self.moved(param, param.grad, group["lr"])

    def moved(self, param: Any, grad: Any, rate: float) -> None:
        param.reshape(-1).add_(grad.reshape(-1), alpha=-rate)


class Views(Reshapes):
    """The same, which raises where there is no such vector."""

    def moved(self, param: Any, grad: Any, rate: float) -> None:
        param.view(-1).add_(grad.view(-1), alpha=-rate)


class Adds(Reshapes):
    """SGD as it should be."""

    def moved(self, param: Any, grad: Any, rate: float) -> None:
        param.add_(grad, alpha=-rate)


def test_a_class_that_updates_a_copy_is_told_of_the_layout() -> None:
    for wrong, right in ((for_numpy(Ravels, "sgd"), for_numpy(InPlace, "sgd")), (torch_of(Reshapes), torch_of(Adds))):
        verdict = judged.verdict_of(wrong, "sgd")
        assert (verdict.verdict, verdict.law) == ("diverges", LAYOUT)
        assert "parameters in columns, gradients in rows: " in verdict.reason
        assert judged.verdict_of(right, "sgd").verdict == "conforms"


def test_a_class_that_raises_for_them_is_judged_on_the_rest_and_its_note_says_so() -> None:
    target = torch_of(Views)
    assert "; not tried: strided arrays (RuntimeError: view size is not compatible" in target.note
    assert not target.engines()[0].strided
    assert judged.verdict_of(target, "sgd").verdict == "conforms"


def test_the_counterexample_says_how_arrays_lie() -> None:
    found: Any = judged.verdict_of(for_numpy(Ravels, "sgd"), "sgd").counterexample
    plain, other = (part.partition("hyper_")[0] for part in found["script"].split("\n# Run ")[1:])
    assert "In memory" not in plain
    assert other.endswith("\n# In memory, parameters in columns, gradients in rows.\n")


def torch_of(kind: type) -> Any:
    return for_torch(kind, "sgd")


@pytest.mark.parametrize("layouts", LAYOUTS)
def test_a_run_of_torch_holds_arrays_as_they_lie(layouts: tuple[str, str]) -> None:
    seen: list[tuple[str, str]] = []

    class Watched(Adds):
        def moved(self, param: Any, grad: Any, rate: float) -> None:
            seen.append((lies(param.numpy()), lies(grad.numpy())))
            super().moved(param, grad, rate)

    case = Case("sgd", "float32", {}, (0.5, 0.25), (MATRIX,), ((MATRIX,), (MATRIX + 1,)), layouts)
    target = for_torch(Watched, "sgd")
    seen.clear()
    after = trajectory(target.engines()[0], case, Guard())
    assert seen == [layouts] * 2
    assert after.tobytes() == trajectory(NumpyTarget(), case.replace(layouts=(ROWS, ROWS)), Guard()).tobytes()
