"""The CUDA bodies on the processor, judged as any target; the tests of engines beside this file run them, too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.engines import frame
from optimetry.accelerated.formats import FORMATS
from optimetry.accelerated.kernels import kernel_of
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets.accelerated.target import FMAD, MASTER, AcceleratedTarget
from optimetry.reference.rules import RULES
from tests.accelerated.cases import DTYPES, IDS, VARIANTS, arrays, run, state_bits
from tests.accelerated.emulated import Emulated, compiled, needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("emulated_cuda")]


@pytest.mark.filterwarnings("ignore")  # as in the workers of `optimetry check`: cases overflow on purpose
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule", RULES)
def test_the_suite_judges_every_rule(rule: str, dtype: str) -> None:
    masters = ("", MASTER) if FORMATS[dtype].narrow else ("",)
    engines = [AcceleratedTarget(f"cuda{fmad}{master}") for fmad in ("", FMAD) for master in masters]
    for verdict in judge(engines, rule, dtype, effort=EFFORTS["quick"], seed=0):
        assert verdict.verdict == "conforms", verdict
        assert verdict.cases == EFFORTS["quick"].cases


def faulty(name: str, number: int, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the text of one pass of a rule."""

    def kernel(rule: Any) -> Kernel:
        made = kernel_of(rule)
        if rule.name != name:
            return made
        one = made.passes[number]
        assert before in one.cuda
        passes = list(made.passes)
        passes[number] = replace(one, cuda=one.cuda.replace(before, after))
        return replace(made, passes=tuple(passes))

    monkeypatch.setattr("optimetry.accelerated.optimizer.kernel_of", kernel)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "number", "before", "after"),
    [
        ("sgd", 0, "w - lr", "w + lr"),
        ("adam", 0, "sqrt(v) + epsilon", "sqrt(v + epsilon)"),
        ("adamax", 0, "decayed > size", "decayed < size"),
        ("adadelta", 0, "(u + epsilon)", "(u)"),
        ("asgd", 0, "y = g;", ""),
        ("lars_momentum", 0, "measured1 = g", "measured1 = w"),
        ("lamb", 1, "+ decay * w", ""),
        ("ftrl", 0, "s = n;", ""),
    ],
)
def test_a_planted_fault_is_convicted(
    name: str, number: int, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty(name, number, before, after, monkeypatch)
    (verdict,) = judge([AcceleratedTarget("cuda")], name, "float32", effort=EFFORTS["quick"], seed=0)
    assert verdict.verdict in ("diverges", "dialect"), verdict


def stepped_on_special_values(name: str, hyper: dict[str, Any], engine: str) -> list[Any]:
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, 1.0]
    parameters, grad = (np.float32(side).reshape(-1).copy() for side in np.meshgrid(special, special))
    optimizer = Accelerated(name, [parameters], hyper, engine=engine)
    for given in (grad, grad[::-1], grad):
        optimizer.step([given], 0.1)
    state = optimizer.state_dict()
    return [parameters, *(state[slot][0] for slot in optimizer.rule.slots)]


@pytest.mark.parametrize(("name", "hyper"), VARIANTS, ids=IDS)
def test_nan_infinity_and_subnormals(name: str, hyper: dict[str, Any]) -> None:
    for ours, must in zip(
        *(stepped_on_special_values(name, hyper, engine) for engine in ("cuda", "numpy")), strict=True
    ):
        np.testing.assert_array_equal(ours, must)


def test_a_maximum_that_drops_nan_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty("adamax", 0, " || decayed != decayed", "", monkeypatch)
    ours, must = (stepped_on_special_values("adamax", {}, engine)[2] for engine in ("cuda", "numpy"))
    assert (np.isnan(ours) != np.isnan(must)).any()


@pytest.mark.parametrize("name", ["lars_momentum", "lamb"])
@pytest.mark.parametrize("barrier", [0, 1])
def test_every_barrier_of_a_sum_is_needed(name: str, barrier: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hyper = {"momentum": 0.9} if name == "lars_momentum" else {}
    right = state_bits(run(name, hyper, "float32", "cuda"))
    parts = frame.COMMON.split("__syncthreads();")
    assert len(parts) == 3
    without = "__syncthreads();".join(parts[: barrier + 1]) + parts[barrier + 1]
    without += "".join(f"__syncthreads();{part}" for part in parts[barrier + 2 :])
    monkeypatch.setattr(frame, "COMMON", without)
    assert state_bits(run(name, hyper, "float32", "cuda")) != right


def test_the_threads_of_a_real_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of doubles in another order round to the same float32, here."""
    few = [state_bits(run(name, hyper, "float32", "cuda")) for name, hyper in VARIANTS]
    monkeypatch.setattr("optimetry.accelerated.optimizer.device_of", lambda engine, parameters: Emulated(256))
    assert [state_bits(run(name, hyper, "float32", "cuda")) for name, hyper in VARIANTS] == few


@pytest.mark.parametrize(("name", "hyper"), VARIANTS, ids=IDS)
def test_the_same_arrays_give_the_same_bits(name: str, hyper: dict[str, Any]) -> None:
    assert state_bits(run(name, hyper, "float64", "cuda")) == state_bits(run(name, hyper, "float64", "cuda"))


def test_fmad_is_another_arithmetic() -> None:
    plain, fused = (run("adam", {}, "float32", "cuda", fmad=fmad) for fmad in (False, True))
    assert state_bits(plain) != state_bits(fused)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_to_nearest_even(name: str) -> None:
    """Every half, and every float32 between two of them; on a device float16 has instructions of its own."""
    dtype = FORMATS[name].dtype
    halves = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    finite = np.sort(halves[np.isfinite(halves.astype(np.float32))].astype(np.float32))
    between = finite[1:] / 2 + finite[:-1] / 2
    hard = [finite, between, np.nextafter(between, np.float32(np.inf)), np.nextafter(between, np.float32(-np.inf))]
    given = np.concatenate([*hard, np.float32([np.inf, -np.inf, 1e-45, 3.4e38])])
    with np.errstate(all="ignore"):
        must = given.astype(dtype)
    text = f"{frame.COMMON.format(real='float', threads=1, batch=1)}{frame.HALVES[name]}"
    kernel = """
extern "C" __global__ void convert(const float* wide, half* halves, float* back) {
    halves[blockIdx.x] = narrow(wide[blockIdx.x]);
    back[blockIdx.x] = widen(halves[blockIdx.x]);
}
"""
    got, back = np.zeros(given.size, dtype), np.zeros(given.size, np.float32)
    compiled(text + kernel, "convert", False)(given.size, [array.ctypes.data for array in (given, got, back)])
    assert got.tobytes() == must.tobytes()
    assert back.tobytes() == must.astype(np.float32).tobytes()


@pytest.mark.parametrize(("name", "dtype"), [("adam", "bfloat16"), ("lamb", "float32"), ("asgd", "float64")])
def test_out_of_memory_changes_nothing(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = run(name, {}, dtype, "cuda", steps=2, multi_precision=True)
    device, grads, left = optimizer.device, arrays(dtype, 7), 0

    def scarce(made: Any) -> Any:
        def allocate(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise MemoryError("Out of memory allocating 512 bytes")
            return made(*arguments)

        return allocate

    monkeypatch.setattr(device, "given", scarce(device.given))
    monkeypatch.setattr(device, "zeros", scarce(device.zeros))
    before, said = state_bits(optimizer), set()
    for allowed in range(100):
        left = allowed
        try:
            optimizer.step([grad.copy() for grad in grads], 0.1)
        except MemoryError as error:
            said.add(str(error))
            assert state_bits(optimizer) == before
        else:
            break
    assert allowed > 1
    assert said == {f"{name}: out of memory for a step; nothing has been changed: Out of memory allocating 512 bytes"}
    assert state_bits(optimizer) != before
    left = 0
    with pytest.raises(MemoryError, match=f"{name}: out of memory for the state: Out of memory allocating"):
        Accelerated(name, arrays(dtype, 0), engine="cuda")
