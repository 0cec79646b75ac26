"""Accelerated clips, regularizers, averages and compression: judged, and against the reference."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.accelerated.averaging import ExponentialMovingAverage, ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.accelerated.compression import Compression
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.plan import Plan
from optimetry.accelerated.regularizers import L1Decay, L2Decay
from optimetry.accelerated.rows import Rows
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.selftest.known_targets import QUARTER_QUICK
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.accelerated.target import AcceleratedTarget
from optimetry.reference.averaging.exponential import ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.clips import GradientClipByGlobalNorm, GradientClipByNorm
from optimetry.reference.errors import ArrayError, HyperparameterError, UsageError
from tests.accelerated.cases import ENGINES, bits
from tests.accelerated.emulated import COMPILER
from tests.accelerated.wrapped import NORMS

pytestmark = pytest.mark.usefixtures("emulated_cuda")

JUDGED = (("numba", "numpy", *(("cuda",) if COMPILER else ())), ("cuda-fmad",) if COMPILER else ())
SOME = replace(QUARTER_QUICK, law_cases=1)


@pytest.mark.filterwarnings("ignore")  # as in the workers of `optimetry check`: cases overflow on purpose
@pytest.mark.parametrize(
    ("wrapper", "dtype"),
    [
        (wrapper, dtype)
        for wrapper in WRAPPERS
        for dtype in (DTYPES if wrapper in (*NORMS, "dgc_compress") else ["bfloat16", "float32"])
    ],
)
def test_a_wrapper_conforms(wrapper: str, dtype: str) -> None:
    """On every engine; laws test what surrounds a body: tried without fmad, in a narrow and a wide dtype.

    What neither sums nor selects has one body for all dtypes, so these two are enough.
    """
    efforts = SOME if dtype in ("bfloat16", "float32") else QUARTER_QUICK, QUARTER_QUICK
    for engines, effort in zip(JUDGED, efforts, strict=True):
        verdicts = judge([AcceleratedTarget(engine) for engine in engines], wrapper, dtype, effort=effort, seed=0)
        conforms = [(engine, "conforms", "") for engine in engines]
        assert [(verdict.engine, verdict.verdict, verdict.reason) for verdict in verdicts] == conforms


@pytest.mark.parametrize("engine", ["numba-master", "cuda-fmad-master"])
def test_master_copies_have_no_wrappers(engine: str) -> None:
    (verdict,) = judge([AcceleratedTarget(engine)], "clip_by_norm", "float32", effort=SOME, seed=0)
    assert (verdict.verdict, verdict.reason) == ("unsupported", "clip_by_norm works without master copies")
    with pytest.raises(ValueError, match="clip_by_norm works without master copies"):
        AcceleratedTarget(engine).start_wrapper("clip_by_norm", {"clip_norm": 1.0}, [])


@pytest.mark.parametrize("engine", ENGINES)
def test_large_arrays_are_clipped_in_place(engine: str) -> None:
    before = np.random.default_rng(0).normal(size=300_001).astype(np.float32)
    by_value, by_norm = before.copy(), before.copy()
    ClipByValue([by_value], 1.0, engine=engine).clip()
    ClipByNorm([by_norm], 1.0, engine=engine).clip()
    assert np.array_equal(by_value, np.clip(before, -1, 1))
    assert abs(np.linalg.norm(by_norm.astype(np.float64)) - 1) < 1e-6


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("clip", [(ClipByNorm, GradientClipByNorm), (ClipByGlobalNorm, GradientClipByGlobalNorm)])
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_is_clipped_as_in_the_reference(clip: Any, special: float, engine: str) -> None:
    """The norm of NaN is above no limit: a clip of one gradient leaves it, one of all makes every element NaN."""
    accelerated, documented = clip
    grads = [np.array([3.0, special, 4.0]), np.array([5.0, 12.0])]
    with np.errstate(all="ignore"):
        expected = documented(1.0).clipped(grads)
    accelerated(grads, 1.0, engine=engine).clip()
    for mine, other in zip(grads, expected, strict=True):
        np.testing.assert_array_equal(mine, other)


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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("decay", [L1Decay, L2Decay])
def test_parameters_that_share_memory_with_gradients(decay: Any, engine: str) -> None:
    """One lies across two gradients: the second must not see what was added to the first."""
    memory = np.random.default_rng(0).normal(size=20_001)
    shared, apart = memory.copy(), memory.copy()
    parameters = [shared[:9_000], shared[8_000:19_000]]
    decay([shared[1:9_001], shared[9_001:]], 0.5, engine=engine).regularize([array.copy() for array in parameters])
    decay([apart[1:9_001], apart[9_001:]], 0.5, engine=engine).regularize([apart[:9_000], apart[8_000:19_000]])
    assert shared.tobytes() == apart.tobytes()


@pytest.mark.parametrize(
    ("wrapper", "rule", "method", "fault"),
    [
        ("model_average", WindowAverage, "is_full", lambda rule, updates, count: count >= rule.maximum),
        ("exponential_moving_average", ExponentialAverage, "decay_at", lambda rule, steps: rule.decay),
    ],
)
def test_a_fault_of_the_reference_shows_in_averages(
    wrapper: str, rule: type, method: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formulas are written by hand here: called from the reference, they would have its fault, too.

    The cases are no other test's, whose expected values are kept.
    """
    monkeypatch.setattr(rule, method, fault)
    (verdict,) = judge([AcceleratedTarget("numpy")], wrapper, "float32", effort=SOME, seed=11)
    assert verdict.verdict != "conforms"


@pytest.mark.parametrize(
    "make", [lambda a: ExponentialMovingAverage(a, 0.5, engine="numpy"), lambda a: ModelAverage(a, 1.0, engine="numpy")]
)
def test_an_applied_average_takes_no_update(make: Any) -> None:
    array = np.ones(3)
    average = make([array])
    average.update()
    array[...] = 2
    average.apply()
    before = {name: bits(held) for name, held in average.state_dict().items()}
    with pytest.raises(
        UsageError, match=rf"^{average.label}: update\(\) of applied averages, must be after restore\(\)$"
    ):
        average.update()
    assert {name: bits(held) for name, held in average.state_dict().items()} == before
    average.restore()
    average.update()  # and now it is allowed
    assert (array == 2).all()
    assert average.updates == 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda state: state.pop("average"), "state of numbers, must be of average, numbers"),
        (lambda state: state["average"].pop(), "0 arrays of average, must be 1, one for each parameter"),
        (lambda state: state["average"].__setitem__(0, np.zeros(4)), r"average 0 has dtype float64 and shape \(4,\)"),
        (lambda state: state["numbers"].pop(), r"numbers = .*, must be 2 numbers"),
        *(
            (
                lambda state, i=i, number=number: state["numbers"].__setitem__(i, np.array(number)),
                rf"numbers {i} is array\(.*\), must be {allowed}",
            )
            for i, allowed in enumerate((r"a whole number in \[0, inf\)", r"a float in \[0, 1\]"))
            for number in (-3, 1.5, "x", np.nan, True)
        ),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: Any, text: str) -> None:
    average = ExponentialMovingAverage([np.ones(3)], 0.5, engine="numpy")
    average.update()
    state = average.state_dict()
    before = {name: bits(held) for name, held in state.items()}
    state["average"][0] = np.zeros(3)
    change(state)
    with pytest.raises(ArrayError, match=f"exponential_moving_average: {text}"):
        average.load_state_dict(state)
    assert {name: bits(held) for name, held in average.state_dict().items()} == before


def test_what_cannot_be_done_is_said() -> None:
    array = np.ones(3)
    average = ExponentialMovingAverage([array], engine="numpy")
    with pytest.raises(UsageError, match=r"exponential_moving_average: apply\(\) before any update\(\)"):
        average.apply()
    with pytest.raises(UsageError, match=r"restore\(\) without apply\(\)"):
        average.restore()
    with pytest.raises(HyperparameterError, match="min_average_window = 5, must be at most max_average_window = 2"):
        ModelAverage([array], 0.1, 5, 2)
    for fold in (0, -1, 1.5):
        with pytest.raises(HyperparameterError, match=rf"fold = {fold}, must be an integer in \[1, inf\)"):
            ModelAverage([array], 0.1, fold=fold)  # type: ignore[arg-type]
    for steps in (-5, -10, 0.5):
        with pytest.raises(HyperparameterError, match=rf"thres_steps = {steps}, must be an integer in \[0, inf\)"):
            average.update(steps)  # type: ignore[arg-type]
    with pytest.raises(HyperparameterError, match="decay = 1"):
        ExponentialMovingAverage([array], 1)
    with pytest.raises(HyperparameterError, match="clip_norm = 0"):
        ClipByNorm([array], 0)
    with pytest.raises(ArrayError, match="gradients of float32, float64, must be of one dtype"):
        ClipByGlobalNorm([array, np.ones(1, np.float32)], 1.0, engine="numpy")
    with pytest.raises(ArrayError, match="l2_decay: 2 parameters, must be 1"):
        L2Decay([array], 0.1, engine="numpy").regularize([array, array])
    with pytest.raises(ArrayError, match="l1_decay: parameter 0 has shape"):
        L1Decay([array], 0.1, engine="numpy").regularize([np.ones(4)])
    rows: Any = Rows(np.array([0]), np.ones(1))
    with pytest.raises(ArrayError, match=r"dgc_momentum: gradient 0 is a Rows, must be a NumPy array$"):
        Compression([array], 0.9).compress([rows], 0.5)
    with pytest.raises(UsageError, match="clip_by_norm: fmad = True with engine 'auto', must be with cuda"):
        ClipByNorm([array], 1.0, fmad=True)
    with pytest.raises(HyperparameterError, match=r"dgc_momentum: sparsity = 1\.0, must be in"):
        Compression([array], 0.9).compress([array], 1.0)
    frozen = np.ones(2)
    frozen.flags.writeable = False
    with pytest.raises(ArrayError, match="clip_by_value: gradient 0 is read-only"):
        ClipByValue([frozen], 1.0)
    assert np.array_equal(array, np.ones(3))


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_that_are_the_same_objects_are_planned_once(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, plans = Plan.of, []
    monkeypatch.setattr(Plan, "of", lambda *arguments, **options: plans.append(1) or plan(*arguments, **options))
    parameters = [np.full(3, 2.0), np.full((2, 2), 2.0)]
    average = ExponentialMovingAverage(parameters, 0.5, engine=engine)
    for _ in range(3):
        parameters[0] *= 2
        average.update()
    assert len(plans) == 1
    assert (average.state_dict()["average"][0] == ((4 / 2 + 8) / 2 + 16) / 2).all()

    grads = [np.ones(3), np.ones((2, 2))]
    decay = L2Decay(grads, 0.5, engine=engine)
    for read in (parameters, list(parameters), [array.copy() for array in parameters]):
        decay.regularize(read)
    assert len(plans) == 3
    assert (grads[0] == 1 + 3 * 0.5 * 16).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_copied_is_read_anew(engine: str) -> None:
    """Parameters that lie in the gradients, or are not contiguous, have other values each time."""
    memory = np.ones(6)
    decay = L2Decay([memory[:3]], 1.0, engine=engine)
    for read in ([memory[1:4]], [np.arange(6.0)[::2]]):
        first, values = memory[:3].copy(), read[0]
        for _ in range(2):
            first = first + values
            decay.regularize(read)
            assert (memory[:3] == first).all()
            values[...] = values + 1
            first = memory[:3].copy()
