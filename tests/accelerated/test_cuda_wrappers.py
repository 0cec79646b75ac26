"""The CUDA bodies of the wrappers on the processor, against the NumPy engine; the judge runs in ``test_wrappers``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated import averaging, clips, regularizers
from optimetry.accelerated.averaging import ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets.accelerated.target import AcceleratedTarget
from tests.accelerated.cases import DTYPES, Array, arrays, bits, copies
from tests.accelerated.emulated import Emulated, needs_compiler
from tests.accelerated.wrapped import NORMS, WRAPPED, assert_reordered, on_host, reordered, results

pytestmark = [needs_compiler, pytest.mark.usefixtures("emulated_cuda")]

EXACT = [name for name in WRAPPED if name not in NORMS]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_bits_of_the_numpy_engine(name: str, dtype: str) -> None:
    assert bits(on_host(name, dtype, "cuda")) == bits(on_host(name, dtype, "numpy"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NORMS)
def test_norms_differ_by_the_order_of_a_sum(name: str, dtype: str) -> None:
    """Sums of doubles in another order round to the same float32, here; in float64 to almost the same."""
    ours, must = (on_host(name, dtype, engine) for engine in ("cuda", "numpy"))
    if dtype == "float64":
        assert_reordered(name, ours, must)
    else:
        assert bits(ours) == bits(must)


@pytest.mark.parametrize("name", WRAPPED)
def test_the_same_arrays_give_the_same_bits(name: str) -> None:
    assert bits(on_host(name, "float64", "cuda")) == bits(on_host(name, "float64", "cuda"))


@pytest.mark.parametrize("name", NORMS)
def test_the_threads_of_a_real_block(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = bits(on_host(name, "float32", "cuda"))
    monkeypatch.setattr("optimetry.accelerated.sweeps.device_of", lambda engine, parameters: Emulated(256))
    assert bits(on_host(name, "float32", "cuda")) == few


@pytest.mark.parametrize("name", ["l2_decay", "exponential_moving_average"])
def test_fmad_is_another_arithmetic(name: str) -> None:
    plain, fused = (bits(on_host(name, "float32", "cuda", fmad=fmad)) for fmad in (False, True))
    assert plain != fused


def of_special_values(name: str, engine: str) -> list[Array]:
    """All values at once where each element stands alone, else one array for each."""
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, 1.0]
    given, read = (np.float32(side).reshape(-1).copy() for side in np.meshgrid(special, special))
    if name == "clip_by_norm":
        return results(name, [np.float32([value, 2.0]) for value in special], [], engine=engine)
    if name == "clip_by_global_norm":
        ones = [[np.float32([value]), np.ones(3, np.float32)] for value in special]
        return [array for one in ones for array in results(name, one, [], engine=engine)]
    return results(name, [given], [read], engine=engine)


@pytest.mark.parametrize("name", WRAPPED)
def test_nan_infinity_and_subnormals(name: str) -> None:
    for ours, must in zip(*(of_special_values(name, engine) for engine in ("cuda", "numpy")), strict=True):
        np.testing.assert_array_equal(ours, must)


def faulty(text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change a text of the wrappers."""
    for module in (averaging, clips, regularizers):
        if hasattr(module, text):
            body = getattr(module, text)
            assert before in body
            changed = body.replace(before, after)
            for kind in vars(module).values():
                if getattr(kind, "cuda", None) == body:
                    monkeypatch.setattr(kind, "cuda", changed)
                if isinstance(getattr(kind, "kernels", None), dict):
                    monkeypatch.setattr(kind, "kernels", _changed(kind.kernels, body, changed))
            monkeypatch.setattr(module, text, changed)


def _changed(kernels: dict[str, Kernel], body: str, changed: str) -> dict[str, Kernel]:
    return {
        name: Kernel(tuple(replace(one, cuda=changed) if one.cuda == body else one for one in kernel.passes))
        for name, kernel in kernels.items()
    }


@pytest.mark.parametrize(
    ("name", "text", "before", "after"),
    [
        ("clip_by_value", "BETWEEN_CUDA", "g > high ? high : g", "g < high ? g : high"),
        ("clip_by_norm", "FACTOR", "norm <= limit ? limit : norm", "norm > limit ? norm : limit"),
        ("clip_by_global_norm", "FACTOR", "norm <= limit ? limit : norm", "norm > limit ? norm : limit"),
        ("l1_decay", "SIGN_CUDA", "w != w ? w : 0", "0"),
        ("model_average", "FOLDED_CUDA", "recent - recent", "0"),
        ("model_average", "CLOSED_CUDA", "total - total", "0"),
    ],
)
def test_a_body_that_drops_nan_is_found(
    name: str, text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty(text, before, after, monkeypatch)
    ours, must = (of_special_values(name, engine) for engine in ("cuda", "numpy"))
    assert any((np.isnan(one) != np.isnan(other)).any() for one, other in zip(ours, must, strict=True))


@pytest.mark.parametrize("name", NORMS)
def test_a_factor_beyond_the_order_of_a_sum_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    must = on_host(name, "float64", "numpy")
    faulty("FACTOR", "limit / ", f"{1 + 2 * max(reordered(name, must))!r} * limit / ", monkeypatch)
    with pytest.raises(AssertionError):
        assert_reordered(name, on_host(name, "float64", "cuda"), must)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "text", "before", "after"),
    [
        ("clip_by_value", "BETWEEN_CUDA", "g < low ? low", "g < low ? high"),
        ("clip_by_norm", "MEASURED_CUDA", "= g", "= g * g"),
        ("clip_by_global_norm", "FACTOR", "? limit : norm", "? norm : limit"),
        ("clip_then_decay", "ADDED_CUDA", "+ strength", "- strength"),
        ("l1_decay", "SIGN_CUDA", "w < 0 ? -1", "w < 0 ? 1"),
        ("exponential_moving_average", "CORRECTED_CUDA", "e / weight", "e"),
        ("model_average", "MEAN_CUDA", " + previous", ""),
    ],
)
def test_a_planted_fault_is_rejected(
    name: str, text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty(text, before, after, monkeypatch)
    (verdict,) = judge([AcceleratedTarget("cuda")], name, "float32", effort=EFFORTS["quick"], seed=0)
    assert verdict.verdict in ("diverges", "dialect"), verdict


def test_a_joint_norm_that_is_of_each_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scaling = clips._scaling

    def apart(limit: float, joint: bool) -> Kernel:
        measure, scale = scaling(limit, joint).passes
        assert scale.rate is not None
        return Kernel((measure, replace(scale, rate=replace(scale.rate, joint=False))))

    monkeypatch.setattr(clips, "_scaling", apart)
    (verdict,) = judge([AcceleratedTarget("cuda")], "clip_by_global_norm", "float32", effort=EFFORTS["quick"], seed=0)
    assert verdict.verdict in ("diverges", "dialect"), verdict


def test_a_joint_norm_over_many_arrays_and_units() -> None:
    given = [np.random.default_rng(n).normal(size=size).astype(np.float32) for n, size in enumerate((9, 0, 50_000, 1))]
    ours = copies(given)
    ClipByGlobalNorm(ours, 3.0, engine="cuda").clip()
    total = np.sqrt(sum(np.sum(array.astype(np.float64) ** 2) for array in given))
    for array, before in zip(ours, given, strict=True):
        assert array.tobytes() == (before * np.float32(3 / total)).tobytes()


def test_out_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [np.full(3, 2.0, np.float32), np.full(3, 2.0)]
    clip = ClipByNorm(given, 1.0, engine="cuda")
    device, left = clip._sweep.device, 0
    original = device.given

    def scarce(array: Array) -> Array:
        nonlocal left
        left -= 1
        if left < 0:
            raise MemoryError("Out of memory allocating 512 bytes")
        return original(array)

    monkeypatch.setattr(device, "given", scarce)
    for allowed in range(100):
        left = allowed
        try:
            clip.clip()
        except MemoryError:
            assert all((array == 2).all() for array in given)
        else:
            break
    assert allowed > 6  # three new tables for each dtype, at least
    assert all((array < 1).all() for array in given)


def test_a_state_goes_from_one_engine_to_another() -> None:
    def average(engine: str) -> ModelAverage:
        return ModelAverage(arrays("bfloat16", 0), 0.5, 2, 3, fold=2, engine=engine)

    def states(one: Any) -> dict[str, list[bytes]]:
        return {name: bits(held) for name, held in one.state_dict().items()}

    first, second = average("numpy"), average("cuda")
    for _ in range(5):
        first.update()
    second.load_state_dict(first.state_dict())
    assert states(first) == states(second)
    for one in (first, second):
        one.update()
        one.apply()
    assert states(first) == states(second)
    assert bits(first._sweep.arrays) == bits(second._sweep.arrays)
