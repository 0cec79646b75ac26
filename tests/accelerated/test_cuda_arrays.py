"""CuPy arrays in place: with a device on it, and without one on a stand-in for CuPy that shows slips of the pen."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.clips import ClipByNorm
from optimetry.accelerated.compression import Compression
from optimetry.accelerated.devices import driver, nvrtc
from optimetry.accelerated.devices.cuda import CudaDevice
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels import offered
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.regularizers import L2Decay
from optimetry.accelerated.rows import Rows
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.accelerated.target import AcceleratedTarget
from optimetry.reference.errors import ArrayError
from tests.accelerated import fake_cupy, wrapped
from tests.accelerated.cases import (
    EACH_KIND,
    arrays,
    bits,
    gradients,
    is_exact,
    rate,
    run,
    state_bits,
    variants_in,
)
from tests.accelerated.emulated import needs_compiler

MISSING = driver.obstacle() or (None if importlib.util.find_spec("cupy") else "cupy is not installed")

EXACT = variants_in(DTYPES, "bfloat16", is_exact)
"""All but sums of norms, which have an order of their own, and powers, which are the library's."""

needs_device = pytest.mark.skipif(MISSING is not None, reason=f"not run: {MISSING}")


@pytest.fixture(params=[pytest.param("device", marks=needs_device), pytest.param("stand-in", marks=needs_compiler)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CudaDevice:
    if request.param == "stand-in":
        monkeypatch.setattr(driver, "obstacle", lambda: None)
        monkeypatch.setattr(nvrtc, "compiled", fake_cupy.program)
        monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
        monkeypatch.setattr("optimetry.accelerated.devices.cuda._COMPILED", {})
    return CudaDevice()


def on(device: CudaDevice, tensors: list[Any]) -> list[Any]:
    return [None if array is None else device.given(array) for array in tensors]


def stepped(
    device: CudaDevice, name: str, hyper: dict[str, Any], dtype: str, steps: int = 4, **options: Any
) -> Accelerated:
    optimizer = Accelerated(name, on(device, arrays(dtype, 0)), hyper, **options)
    assert optimizer.engine == "cuda"
    for step in range(steps):
        optimizer.step(on(device, gradients(dtype, step)), rate(step))
    return optimizer


def all_bits(optimizer: Accelerated) -> dict[str, list[bytes]]:
    device = optimizer.device
    parameters = [device.copied(parameter) for parameter in optimizer.parameters]
    return {slot: bits(held) for slot, held in optimizer.state_dict().items()} | {"param": bits(parameters)}


@pytest.mark.parametrize(("name", "hyper", "dtype"), EXACT)
def test_bits_of_the_numpy_engine(name: str, hyper: dict[str, Any], dtype: str, device: CudaDevice) -> None:
    for master in {False, DTYPES[dtype].narrow}:
        ours = stepped(device, name, hyper, dtype, multi_precision=master)
        assert all_bits(ours) == state_bits(run(name, hyper, dtype, "numpy", multi_precision=master))


@pytest.mark.parametrize(("name", "hyper", "dtype"), variants_in(DTYPES, "bfloat16"))
def test_a_run_goes_on_on_the_device_and_back(name: str, hyper: dict[str, Any], dtype: str, device: CudaDevice) -> None:
    first = run(name, hyper, dtype, "numpy", multi_precision=True)
    second = Accelerated(name, on(device, first.parameters), hyper, multi_precision=True)
    second.load_state_dict(first.state_dict())
    host = [device.copied(array) for array in second.parameters]
    third = Accelerated(name, host, hyper, engine="numpy", multi_precision=True)  # which needs no compiler
    third.load_state_dict(second.state_dict())
    assert state_bits(first) == all_bits(second) == state_bits(third)
    other = Accelerated(name, on(device, first.parameters), hyper, engine="cuda", multi_precision=True)
    other.load_state_dict(second.state_dict())
    for step in (4, 5):
        for optimizer in (second, other):
            optimizer.step(on(device, gradients(dtype, step)), rate(step))
    assert all_bits(second) == all_bits(other)


@pytest.mark.parametrize("engine", ["auto", "cuda"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in wrapped.WRAPPED if name not in wrapped.NORMS])
def test_wrappers_have_the_bits_of_the_numpy_engine(name: str, dtype: str, engine: str, device: CudaDevice) -> None:
    inputs, read = (on(device, arrays(dtype, seed)) for seed in (0, 1))
    ours = wrapped.results(name, inputs, read, engine=engine)
    assert bits(ours) == bits(wrapped.on_host(name, dtype, "numpy"))


@pytest.mark.parametrize("name", wrapped.NORMS)
def test_wrappers_with_norms(name: str, device: CudaDevice) -> None:
    ours = wrapped.results(name, on(device, arrays("float64", 0)), [])
    wrapped.assert_reordered(name, ours, wrapped.on_host(name, "float64", "numpy"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_compression_has_the_bits_of_the_numpy_engine(dtype: str, device: CudaDevice) -> None:
    ours, must = Compression(on(device, arrays(dtype, 0)), 0.9), Compression(arrays(dtype, 0), 0.9, engine="numpy")
    for step, sparsity in enumerate((0.9, 0.0, 0.999)):
        grads = arrays(dtype, step)
        messages = zip(ours.compress(on(device, grads), sparsity), must.compress(grads, sparsity), strict=True)
        for message, expected in messages:
            assert message.nbytes == expected.nbytes
            assert bits(list(map(device.copied, (message.indices, message.values)))) == bits(
                [expected.indices, expected.values]
            )
    for slots, others in zip(ours.residuals(), must.residuals(), strict=True):
        assert bits(list(map(device.copied, slots))) == bits(others)


def test_what_wrappers_cannot_take(device: CudaDevice) -> None:
    whole = device.given(np.ones((4, 4)))
    with pytest.raises(ArrayError, match=r"clip_by_norm: gradient 0 is a numpy\.ndarray, must be a CuPy array"):
        ClipByNorm([np.ones(3)], 1.0, engine="cuda")
    with pytest.raises(ArrayError, match=r"l2_decay: parameter 0 is a numpy\.ndarray, must be a CuPy array$"):
        L2Decay([whole], 1.0).regularize([np.ones((4, 4))])
    with pytest.raises(ArrayError, match="l2_decay: parameter 0 is a NoneType, must be a CuPy array"):
        L2Decay([whole], 1.0).regularize([None])  # type: ignore[list-item]
    with pytest.raises(ArrayError, match=r"dgc_momentum: gradient 0 is a numpy\.ndarray, must be a CuPy array$"):
        Compression([whole], 0.9).compress([np.ones((4, 4))], 0.5)
    assert (device.copied(whole) == 1).all()


def test_what_cannot_be_taken(device: CudaDevice) -> None:
    whole = device.given(np.ones((4, 4)))
    with pytest.raises(ArrayError, match=r"parameter 0 is a numpy\.ndarray, must be a CuPy array"):
        Accelerated("sgd", [np.ones(3)], engine="cuda")
    with pytest.raises(ArrayError, match=r"parameter 0 is a numpy\.ndarray, must be a CuPy array"):
        Accelerated("sgd", [np.ones(3), whole])
    with pytest.raises(ArrayError, match=r"parameter 0 is not contiguous, .*cupy\.ascontiguousarray"):
        Accelerated("sgd", [whole[:, :2]])
    with pytest.raises(ArrayError, match="parameters 0 and 1 overlap"):
        Accelerated("sgd", [whole[:3], whole[2:]])
    optimizer = Accelerated("adam", [whole])
    before = all_bits(optimizer)
    for wrong in (np.ones((4, 4)), device.given(np.ones((4, 3))), device.given(np.ones((4, 4), np.float32))):
        with pytest.raises(ArrayError, match="adam: gradient 0"):
            optimizer.step([wrong])
    assert all_bits(optimizer) == before


def test_awkward_gradients_are_copied(device: CudaDevice) -> None:
    values = np.random.default_rng(0).standard_normal((6, 8))
    both = [Accelerated("adam", [device.given(np.ones((6, 4)))]) for _ in range(2)]
    both[0].step([device.given(values)[:, ::2]])
    both[1].step([device.given(values[:, ::2].copy())])
    assert all_bits(both[0]) == all_bits(both[1])
    base = device.given(np.ones(41))
    shared = Accelerated("sgd", [base[1:]])
    shared.step([base[:-1]], 0.5)
    assert (device.copied(base)[1:] == 0.5).all()


@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_rows(name: str, hyper: dict[str, Any], device: CudaDevice) -> None:
    ids, values = np.array([3, 1, 3]), np.random.default_rng(0).standard_normal((3, 2)).astype(np.float32)
    host = Accelerated(name, [np.ones((5, 2), np.float32)], hyper, engine="numpy")
    host.step([Rows(ids, values)], 0.1)
    for indices in (ids, device.given(ids)):
        ours = Accelerated(name, [device.given(np.ones((5, 2), np.float32))], hyper)
        ours.step([Rows(indices, device.given(values))], 0.1)
        assert all_bits(ours) == state_bits(host)


@needs_device
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*offered(), *WRAPPERS])
def test_the_suite_judges_everything(name: str, dtype: str) -> None:
    masters = ("", "-master") if name in offered() else ("",)

    engines = [AcceleratedTarget(f"cuda{fmad}{master}") for master in masters for fmad in ("", "-fmad")]
    for verdict in judge(engines, name, dtype, effort=EFFORTS["quick"], seed=0):
        assert verdict.verdict == "conforms", verdict


@needs_device
def test_norms_have_the_same_bits_every_time() -> None:
    device = CudaDevice()
    parameter, grad = (np.random.default_rng(seed).standard_normal(1_000_003) for seed in (0, 1))
    seen = set()
    for _ in range(5):
        optimizer = Accelerated("lamb", [device.given(parameter)])
        optimizer.step([device.given(grad)], 0.1)
        seen.add(device.copied(optimizer.parameters[0]).tobytes())
    assert len(seen) == 1


@needs_device
def test_out_of_memory_on_the_device() -> None:
    import cupy

    device = CudaDevice()
    parameter = device.given(np.ones(1000, np.float32))
    pool = cupy.cuda.MemoryPool()  # the one of all tests may have kept what others have freed
    pool.set_limit(size=1)
    with cupy.cuda.using_allocator(pool.malloc), pytest.raises(MemoryError, match="adam: out of memory for the state"):
        Accelerated("adam", [parameter])
    assert (device.copied(parameter) == 1).all()
