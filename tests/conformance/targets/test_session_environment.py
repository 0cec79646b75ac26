"""The floating-point environment: set for every run and every oracle, and what a target changes is told."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.harness.python_harness import NUMPY_DEFAULT, changes, default_environment
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.oracle.expected import expected, kept_evaluation, with_underflow_room
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, trajectory
from tests.conformance.deeds import SGD, doing
from tests.conformance.judged import verdict_of


def test_numpy_raises_inside_a_run_as_it_does_by_default() -> None:
    seen: list[dict[str, str]] = []
    with np.errstate(all="ignore"):
        trajectory(doing(lambda grads: seen.append(dict(np.geterr()))), SGD, Guard())
    assert seen == [NUMPY_DEFAULT] * 3


def test_a_target_that_sets_how_numpy_reports_errors_is_told_so() -> None:
    before = np.geterr()
    reason = (
        "changed how this process computes: np.seterr(divide='raise', over='raise', under='raise', invalid='raise')"
    )
    verdict = verdict_of(doing(lambda grads: np.seterr(all="raise") and None), "sgd")
    assert (verdict.verdict, verdict.reason) == ("error", reason)
    assert np.geterr() == before


def set_bits(bits: int) -> None:
    """Set bits of the control register as compiled code does, through the C library."""
    library = ctypes.CDLL("libm.so.6")
    environment = (ctypes.c_uint32 * 64)()
    library.fegetenv(ctypes.byref(environment))
    environment[7] |= bits  # MXCSR behind the seven words of the x87
    library.fesetenv(ctypes.byref(environment))


def c_flush() -> None:
    set_bits(0x8040)  # flush-to-zero, denormals-are-zero


def c_round(mode: int) -> None:
    ctypes.CDLL("libm.so.6").fesetround(mode)


def c_round_up() -> None:
    c_round(0x800)  # FE_UPWARD


def torch_flush() -> None:
    pytest.importorskip("torch").set_flush_denormal(True)


INTEL = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and platform.machine() == "x86_64"),
    reason="the layout of the environment is that of x86-64 on Linux",
)
DEEDS = [
    pytest.param(torch_flush, "subnormals are flushed to zero", id="torch"),
    pytest.param(c_flush, "subnormals are flushed to zero", id="control register", marks=INTEL),
    pytest.param(c_round_up, "results are not rounded to nearest", id="rounding", marks=INTEL),
]


@pytest.fixture
def restored() -> Iterator[None]:
    """Whatever a test does to the floating-point environment, the next finds it as it was."""
    with default_environment():
        yield


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("deed", "change"), DEEDS)
def test_a_target_that_changes_the_floating_point_environment_is_told_so(deed: Callable[[], None], change: str) -> None:
    assert changes() == []
    verdict = verdict_of(doing(lambda grads: deed()), "sgd")
    assert (verdict.verdict, verdict.reason) == ("error", f"changed how this process computes: {change}")
    deed()
    assert changes() == [change], "the deed must be one that lasts for this test to mean anything"


@INTEL
@pytest.mark.usefixtures("restored")
def test_every_mode_of_rounding_and_of_reading_subnormals_is_noticed() -> None:
    for mode in (0x400, 0x800, 0xC00):  # downward, upward, towards zero
        c_round(mode)
        assert changes() == ["results are not rounded to nearest"]
        c_round(0)
        assert changes() == []
    for bits in (0x0040, 0x8000):  # denormals-are-zero, of operands; flush-to-zero, of results
        with default_environment():
            set_bits(bits)
            with np.errstate(all="raise"):  # which is not for those who only look
                assert changes() == ["subnormals are flushed to zero"]


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("deed", "change"), DEEDS)
def test_what_one_engine_changes_is_no_fault_of_the_next(deed: Callable[[], None], change: str) -> None:
    engines = [doing(lambda grads: deed()), NumpyTarget()]
    first, second = judge(engines, "sgd", "float32", effort=EFFORTS["quick"], seed=0)
    assert (first.verdict, second.verdict, second.reason) == ("error", "conforms", "")
    assert changes() == []


def of_size(dtype: str, size: float) -> Case:
    arrays = np.array([size, 3 * size], dtype)
    return Case(
        "adagrad", dtype, {"epsilon": 1e-6, "initial_accumulator_value": 0.0}, (0.1,) * 3, (arrays,), ((arrays,),) * 3
    )


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("deed", "change"), DEEDS)
def test_the_oracle_computes_alike_whatever_the_environment_and_leaves_it(deed: Any, change: str) -> None:
    for dtype, size in (("float32", 0.1), ("float64", 3e-310)):
        case = of_size(dtype, size)
        with default_environment():
            with_underflow_room.cache_clear()
            before = expected(case)
            assert before.bound.size
        kept_evaluation.cache_clear()
        with_underflow_room.cache_clear()
        deed()
        after = expected(case)
        assert changes() == [change]
        assert after is not before
        with default_environment():
            for a, b in ((before.value, after.value), (before.bound, after.bound)):
                assert a.tobytes() == b.tobytes()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("deed", "change"), DEEDS)
def test_the_default_environment_gives_back_what_it_found(deed: Callable[[], None], change: str) -> None:
    deed()
    with default_environment():
        assert changes() == []
    assert changes() == [change]
    with pytest.raises(ZeroDivisionError), default_environment():
        raise ZeroDivisionError
    assert changes() == [change]
    np_before = np.geterr()
    with default_environment():
        assert set(np.geterr().values()) == {"ignore"}
    assert np.geterr() == np_before
