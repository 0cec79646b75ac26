"""The CUDA bodies of the wrappers on the processor, against the NumPy engine; the judge runs in ``test_wrappers``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.averaging import ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm
from optimetry.accelerated.dtypes import DTYPES, Array
from tests.accelerated.cases import arrays, bits, copies
from tests.accelerated.emulated import Emulated, needs_compiler, plant
from tests.accelerated.wrapped import NORMS, WRAPPED, assert_reordered, on_host, reordered, results

pytestmark = [needs_compiler, pytest.mark.usefixtures("emulated_cuda")]


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
    monkeypatch.setattr("optimetry.accelerated.inplace.device_of", lambda engine, parameters: Emulated(256))
    assert bits(on_host(name, "float32", "cuda")) == few


@pytest.mark.parametrize("name", ["l2_decay", "exponential_moving_average"])
def test_fmad_is_another_arithmetic(name: str) -> None:
    plain, fused = (bits(on_host(name, "float32", "cuda", fmad=fmad)) for fmad in (False, True))
    assert plain != fused


def of_special_values(name: str, engine: str) -> list[Array]:
    """All values at once where each element stands alone, else one array for each."""
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, 1.0]
    numbers, read = (np.float32(side).reshape(-1).copy() for side in np.meshgrid(special, special))
    if name == "clip_by_norm":
        return results(name, [np.float32([value, 2.0]) for value in special], [], engine=engine)
    if name == "clip_by_global_norm":
        ones = [[np.float32([value]), np.ones(3, np.float32)] for value in special]
        return [array for single in ones for array in results(name, single, [], engine=engine)]
    return results(name, [numbers], [read], engine=engine)


@pytest.mark.parametrize("name", WRAPPED)
def test_nan_infinity_and_subnormals(name: str) -> None:
    for ours, must in zip(*(of_special_values(name, engine) for engine in ("cuda", "numpy")), strict=True):
        np.testing.assert_array_equal(ours, must)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("clip_by_value", "g > high ? high : g", "g < high ? g : high"),
        ("clip_by_norm", "norm > limit ? limit / norm : 1", "norm <= limit ? 1 : limit / norm"),
        ("clip_by_global_norm", "norm <= limit ? limit : norm", "norm > limit ? norm : limit"),
        ("l1_decay", "w != w ? w : 0", "0"),
        ("model_average", "recent = recent - recent", "recent = 0"),
        ("model_average", "total = total - total", "total = 0"),
    ],
)
def test_a_body_that_drops_or_spreads_nan_is_found(
    name: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(before, after, monkeypatch)
    ours, must = (of_special_values(name, engine) for engine in ("cuda", "numpy"))
    assert any((np.isnan(actual) != np.isnan(expected)).any() for actual, expected in zip(ours, must, strict=True))


@pytest.mark.parametrize("name", NORMS)
def test_a_factor_beyond_the_order_of_a_sum_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    must = on_host(name, "float64", "numpy")
    plant("limit / ", f"{1 + 2 * max(reordered(name, must))!r} * limit / ", monkeypatch)
    with pytest.raises(AssertionError):
        assert_reordered(name, on_host(name, "float64", "cuda"), must)


def test_a_joint_norm_over_many_arrays_and_units() -> None:
    gradients = [
        np.random.default_rng(n).normal(size=size).astype(np.float32) for n, size in enumerate((9, 0, 50_000, 1))
    ]
    ours = copies(gradients)
    ClipByGlobalNorm(ours, 3.0, engine="cuda").clip()
    total = np.sqrt(sum(np.sum(array.astype(np.float64) ** 2) for array in gradients))
    for array, before in zip(ours, gradients, strict=True):
        assert array.tobytes() == (before * np.float32(3 / total)).tobytes()


def test_out_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = [np.full(3, 2.0, np.float32), np.full(3, 2.0)]
    clip = ClipByNorm(gradients, 1.0, engine="cuda")
    device, left = clip.device, 0
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
            assert all((array == 2).all() for array in gradients)
        else:
            break
    assert allowed > 6  # three new tables for each dtype, at least
    assert all((array < 1).all() for array in gradients)


def test_a_state_goes_from_one_engine_to_another() -> None:
    def average(engine: str) -> ModelAverage:
        return ModelAverage(arrays("bfloat16", 0), 0.5, 2, 3, fold=2, engine=engine)

    def states(wrapper: Any) -> dict[str, list[bytes]]:
        return {name: bits(held) for name, held in wrapper.state_dict().items()}

    first, second = average("numpy"), average("cuda")
    for _ in range(5):
        first.update()
    second.load_state_dict(first.state_dict())
    assert states(first) == states(second)
    for wrapper in (first, second):
        wrapper.update()
        wrapper.apply()
    assert states(first) == states(second)
    assert bits(first.arrays) == bits(second.arrays)
