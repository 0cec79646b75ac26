"""Accelerated clips, regularizers, averages and compression: judged, and against the reference."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.accelerated.averaging import ExponentialMovingAverage, ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.accelerated.compression import Compression
from optimetry.accelerated.regularizers import L1Decay, L2Decay
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.accelerated.target import AcceleratedTarget
from optimetry.reference.errors import ArrayError, HyperparameterError, UsageError
from tests.accelerated.cases import ENGINES
from tests.accelerated.emulated import needs_compiler

pytestmark = pytest.mark.usefixtures("emulated_cuda")

JUDGED = (*ENGINES, pytest.param("cuda-fmad", marks=needs_compiler))
SOME = Effort("quick", 40, 3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore")  # as in the workers of `optimetry check`: cases overflow on purpose
@pytest.mark.parametrize("engine", JUDGED)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_conforms(wrapper: str, engine: str, dtype: str) -> None:
    (found,) = judge([AcceleratedTarget(engine)], wrapper, dtype, effort=SOME, seed=0)
    assert (found.verdict, found.reason, found.engine) == ("conforms", "", engine)


@pytest.mark.parametrize("engine", ["numba-master", "cuda-fmad-master"])
def test_master_copies_have_no_wrappers(engine: str) -> None:
    (found,) = judge([AcceleratedTarget(engine)], "clip_by_norm", "float32", effort=SOME, seed=0)
    assert (found.verdict, found.reason) == ("unsupported", "clip_by_norm works without master copies")
    with pytest.raises(ValueError, match="clip_by_norm works without master copies"):
        AcceleratedTarget(engine).start_wrapper("clip_by_norm", {"clip_norm": 1.0}, [])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "make", [lambda g, e: ClipByValue(g, 1.0, engine=e), lambda g, e: ClipByNorm(g, 1.0, engine=e)]
)
def test_large_arrays_are_clipped_in_place(make: Any, engine: str) -> None:
    array = np.random.default_rng(0).normal(size=300_001).astype(np.float32)
    before = array.copy()
    make([array], engine).clip()
    if make([array], engine).__class__ is ClipByValue:
        assert np.array_equal(array, np.clip(before, -1, 1))
    else:
        assert abs(np.linalg.norm(array.astype(np.float64)) - 1) < 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_averages_across_a_lowered_fold(engine: str) -> None:
    array = np.zeros(2, ml_dtypes.bfloat16)
    average = ModelAverage([array], 1.0, 50, 50, fold=4, engine=engine)
    for number in range(1, 20):
        array[...] = number
        average.update()
        average.apply()
        assert array[0] == np.float32(sum(range(1, number + 1)) / number).astype(ml_dtypes.bfloat16)
        average.restore()
        assert array[0] == number


def test_what_cannot_be_done_is_said() -> None:
    array = np.ones(3)
    average = ExponentialMovingAverage([array], engine="numpy")
    with pytest.raises(UsageError, match=r"exponential_moving_average: apply\(\) before any update\(\)"):
        average.apply()
    with pytest.raises(UsageError, match=r"restore\(\) without apply\(\)"):
        average.restore()
    average.update()
    average.apply()
    with pytest.raises(UsageError, match=r"update\(\) of applied averages"):
        average.update()
    with pytest.raises(HyperparameterError, match="min_average_window = 5, must be at most max_average_window = 2"):
        ModelAverage([array], 0.1, 5, 2)
    with pytest.raises(HyperparameterError, match="decay = 1"):
        ExponentialMovingAverage([array], 1)
    with pytest.raises(HyperparameterError, match="clip_norm = 0"):
        ClipByNorm([array], 0)
    with pytest.raises(ArrayError, match="gradients of float32, float64, must be of one dtype"):
        ClipByGlobalNorm([array, np.ones(1, np.float32)], 1.0, engine="numpy")
    with pytest.raises(ArrayError, match="2 arrays, must be 1"):
        L2Decay([array], 0.1, engine="numpy").regularize([array, array])
    with pytest.raises(ArrayError, match="gradient 0 has shape"):
        L1Decay([array], 0.1, engine="numpy").regularize([np.ones(4)])
    with pytest.raises(UsageError, match="clip_by_norm: fmad = True with engine 'auto': only cuda fuses operations"):
        ClipByNorm([array], 1.0, fmad=True)
    with pytest.raises(HyperparameterError, match=r"dgc_momentum: sparsity = 1\.0, must be in"):
        Compression([array], 0.9).compress([array], 1.0)
    frozen = np.ones(2)
    frozen.flags.writeable = False
    with pytest.raises(ArrayError, match="is read-only"):
        ClipByValue([frozen], 1.0)
    assert np.array_equal(array, np.ones(3))
