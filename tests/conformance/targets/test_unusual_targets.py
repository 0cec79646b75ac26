"""Targets that answer otherwise than expected outside their steps, or are slow, or change how a process computes."""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import Scale
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.commands.files.ledger import LedgerEntry
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import limits_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.oracle.batched import evaluate
from optimetry.conformance.oracle.expected import Asked, forget, kept_evaluation
from optimetry.conformance.oracle.joined import together
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reports.results import Verdict

QUICK = Effort("quick", 12, 1)


class Sgd:
    """An honest one."""

    name, version = "mine", "1.0"

    def start(self, optimizer: str, hyper: Any, parameters: list[Any]) -> Sgd:
        run = type(self)()
        run.parameters = [param.copy() for param in parameters]
        return run

    parameters: list[Any]

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        pairs = zip(self.parameters, grads, strict=True)
        self.parameters = [
            param if grad is None else param - param.dtype.type(learning_rate) * grad for param, grad in pairs
        ]
        return [np.array(param) for param in self.parameters]


def judged(target: Any, effort: Effort = QUICK, dtype: str = "float32", guard: Guard | None = None) -> Verdict:
    (verdict,) = judge([target], "sgd", dtype, effort=effort, seed=0, guard=guard)
    return verdict


def saying(**methods: Callable[..., Any]) -> Any:
    return type("Saying", (Sgd,), methods)()


def raises(error: BaseException) -> Callable[..., Any]:
    def method(*arguments: Any) -> Any:
        raise error

    return method


@pytest.mark.parametrize(
    ("methods", "reason"),
    [
        ({"recorded": raises(OSError("gone"))}, "recorded() raised OSError: gone"),
        ({"recorded": lambda self: None}, "recorded() returned None, must be a list of cases"),
        ({"unsupported": raises(SystemExit(3))}, "unsupported() raised SystemExit: 3"),
        ({"unsupported": raises(ValueError("x"))}, "unsupported() raised ValueError: x"),
        ({"start": lambda self, *about: None}, "start returned None, must be a run"),
        ({"declines": raises(ValueError("x"))}, "declines() raised ValueError: x"),
        ({"unsupported": lambda self, *about: False}, "unsupported() returned False, must be a reason, or None"),
        ({"unsupported": lambda self, *about: b"no"}, "unsupported() returned b'no', must be a reason, or None"),
    ],
)
def test_an_answer_that_is_none_is_an_error_that_says_so(methods: Any, reason: str) -> None:
    verdict = judged(saying(**methods))
    assert verdict.verdict == "error"
    assert verdict.reason.startswith(reason)


def test_what_a_target_declines_is_listed_where_it_is_most() -> None:
    """It conformed in the few cases that it offered, and nothing said so."""
    verdict = judged(saying(declines=lambda self, case: None if len(case.grads) > 6 else "few steps"))
    assert verdict.verdict == "conforms"
    assert verdict.untried == ["what it declines, which is most (few steps)"]
    assert judged(saying(declines=lambda self, case: None if len(case.grads) > 1 else "one step")).untried == []


def test_limits_in_numbers_of_numpy_are_sent_as_plain_ones() -> None:
    engine = saying()
    engine.pinned = {"momentum": {"momentum": np.float32(0.5), "use_nesterov": np.bool_(False)}}
    assert json.loads(json.dumps(limits_of(engine)))["pinned"] == {"momentum": {"momentum": 0.5, "use_nesterov": False}}


class Slow(Sgd):
    """Takes 2 ms for a step, and can be saved."""

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        time.sleep(0.002)
        return super().step(grads, learning_rate)

    def state(self) -> dict[str, Any]:
        return {"slot": [[1.0] for _ in self.parameters]}  # no arrays, which is as good

    def load(self, state: Any) -> None:
        assert [float(array[0]) for array in state["slot"]] == [1.0] * len(self.parameters)


def test_a_long_run_that_is_resumed_has_the_time_of_a_long_run() -> None:
    """All 500 steps had the time of one run: what could be saved was called hung."""
    effort = Effort("long", 4, 0, (Scale(((7,),), steps=500),))
    verdict = judged(Slow(), effort, guard=Guard(time_limit=0.9))
    assert (verdict.verdict, verdict.reason) == ("conforms", "")


class RaisesBetween(Sgd):
    """Is wrong from 3,000 elements on, and raises for 2,000 to 2,999."""

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        sizes = [param.size for param in self.parameters]
        if any(2000 <= size < 3000 for size in sizes):
            raise ValueError("buffer too small")
        return super().step(grads, learning_rate * (2 if max(sizes, default=0) >= 3000 else 1))


def test_a_fault_while_a_large_case_is_made_smaller_hides_no_difference() -> None:
    verdict = judged(RaisesBetween(), Effort("large", 4, 0, (Scale(((4099,),)),)))
    assert verdict.verdict == "diverges"
    assert "with a tensor of 3000 elements, the fewest found: returned" in verdict.reason


class OnceWrong(Sgd):
    """Is wrong in step 50 of the first such run of seven elements, and never again."""

    steps, shown = 0, False

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        self.steps += 1
        wrong = not OnceWrong.shown and self.steps == 50 and [param.size for param in self.parameters] == [7]
        OnceWrong.shown = OnceWrong.shown or wrong
        return super().step(grads, learning_rate * (2 if wrong else 1))


def test_a_long_run_that_fails_once_is_another_result_in_every_run() -> None:
    verdict = judged(OnceWrong(), Effort("long", 4, 0, (Scale(((7,),), steps=500),)))
    assert OnceWrong.shown
    assert verdict.verdict == "error"
    assert verdict.reason.startswith("gives another result in every run")


@contextmanager
def flushing() -> Iterator[None]:
    """Let the hardware flush subnormals, as some libraries do where they are imported."""
    library = ctypes.CDLL("libm.so.6")
    before = ctypes.create_string_buffer(256)
    library.fegetenv(before)
    changed = bytearray(before.raw)
    changed[28:32] = (int.from_bytes(changed[28:32], "little") | 0x8040).to_bytes(4, "little")
    library.fesetenv(ctypes.create_string_buffer(bytes(changed), 256))
    try:
        yield
    finally:
        library.fesetenv(before)


@pytest.mark.skipif(sys.platform != "linux", reason="the control register is that of glibc on x86-64")
def test_comparisons_do_not_depend_on_how_the_process_computes() -> None:
    """Subnormal results were read as zeros, and an honest target was said to flush them."""
    plain = [judged(Sgd(), replace(QUICK, cases=40), dtype) for dtype in ("float32", "bfloat16")]
    with flushing():
        there = [judged(Sgd(), replace(QUICK, cases=40), dtype) for dtype in ("float32", "bfloat16")]
    assert [(verdict.share, verdict.computes) for verdict in there] == [
        (verdict.share, verdict.computes) for verdict in plain
    ]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_cases() -> None:
    """What was computed of 1 and a hyperparameter was kept by 1, which lives as long as the process."""

    def alive() -> int:
        kept_evaluation.cache_clear()
        together.cache_clear()
        forget()
        gc.collect()
        return sum(type(each) is Bounded for each in gc.get_objects())

    counts = []
    for seed in range(3):
        evaluate([Asked(case) for case in drawn_cases(subject_named("adam"), "float64", seed=seed, count=100)])
        counts.append(alive())
    assert counts[2] <= counts[0] + 20  # there were 100 more for every hundred cases


HARNESS = Path(__file__).parents[1] / "ending_harness.py"


def test_a_run_of_a_process_that_is_gone_is_not_ended_in_the_next_one() -> None:
    """Its number was unknown there, and the answer to that an error of whatever came next."""
    target = ProgramTarget.started(ProtocolProgram([sys.executable, str(HARNESS)]), Guard(), "harness")
    parameters = [np.ones(2, np.float32)]
    first: Any = target.start("sgd", {}, parameters)
    with pytest.raises(Exception, match="its process ended"):
        first.step(parameters, 13.0)
    second: Any = target.start("sgd", {}, parameters)  # in a new process
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
    third: Any = target.start("sgd", {}, parameters)
    for run in (second, third):
        assert [float(x) for x in run.step(parameters, 0.5)[0]] == [0.5, 0.5]
    target.connection.program.close()


@pytest.mark.parametrize(("one", "other", "repeats"), [("b*", "*16", True), ("float*", "b*", False)])
def test_patterns_of_dtypes_repeat_each_other_where_both_match_one(one: str, other: str, repeats: bool) -> None:
    entries = [LedgerEntry("adam", dtype, "diverges", "", "known", line) for line, dtype in enumerate((one, other))]
    assert entries[0].repeats(entries[1]) == repeats
