"""The CUDA bodies on the processor, judged as any target; the tests of engines beside this file run them, too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated import clips
from optimetry.accelerated.benchmarks.measuring import touching
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.source import cuda_text
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import MIXED, Scale
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.selftest.known_targets import HALF_QUICK, QUARTER_QUICK
from optimetry.conformance.targets.accelerated.target import FMAD, MASTER, AcceleratedTarget
from optimetry.reference.rules import RULES
from tests.accelerated.cases import (
    EACH_KIND,
    arrays,
    has_norms,
    is_exact,
    kernel,
    programs_where,
    run,
    state_bits,
    variants_where,
)
from tests.accelerated.emulated import Emulated, compiled, needs_compiler, plant
from tests.conformance.judged import assert_rejected

pytestmark = [needs_compiler, pytest.mark.usefixtures("emulated_cuda")]


INEXACT = RULES.keys() & {variant.values[0] for variant in variants_where(lambda kernel: not is_exact(kernel))}
"""Rules of fluid with norms or powers."""


def cuda(*ends: str) -> list[AcceleratedTarget]:
    """The CUDA engines whose names end so."""
    return [AcceleratedTarget(f"cuda{end}") for end in ends]


@pytest.mark.filterwarnings("ignore")  # as in the workers of `optimetry check`: cases overflow on purpose
@pytest.mark.parametrize(
    ("rule", "dtype"),
    # The bodies of other books stand in the same loops, so one dtype is enough for them, and one rule of those that
    # share a body. Of the rest exact ones have the bits of NumPy in all dtypes, which is tested in test_equality.py.
    [
        (rule, dtype)
        for rule in dict.fromkeys(variant.values[0] for variant in programs_where())
        for dtype in (DTYPES if rule in INEXACT else ["bfloat16", "float32"] if rule in RULES else ["float32"])
    ],
)
def test_the_suite_judges_every_rule(rule: str, dtype: str) -> None:
    masters = ("", MASTER) if DTYPES[dtype].narrow else ("",)
    # Laws test what surrounds a body. That is the same with fmad, in all narrow and in all wide dtypes, so they are
    # tried in one of each.
    once = replace(QUARTER_QUICK, law_cases=1 if dtype in ("bfloat16", "float32") else 0)
    for fmad, effort in (("", once), (FMAD, QUARTER_QUICK)):
        for verdict in judge(cuda(*(fmad + master for master in masters)), rule, dtype, effort=effort, seed=0):
            assert verdict.verdict == "conforms", verdict
            assert verdict.cases == effort.cases


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["adam", "lamb", "clip_by_global_norm", "dgc_compress", "exponential_moving_average"])
def test_more_blocks_than_one_and_many_tensors_are_judged(name: str) -> None:
    scales = (Scale(((4099,),)), Scale(((257, 129),)), Scale(MIXED, tensors=70))
    (verdict,) = judge(cuda(""), name, "float32", effort=Effort("large", 4, 0, scales), seed=0)
    assert verdict.verdict == "conforms", verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("sgd", "w - lr", "w + lr"),
        ("adam", "sqrt(v) + epsilon", "sqrt(v + epsilon)"),
        ("adamax", "decayed > size", "decayed < size"),
        ("adadelta", "(u + epsilon)", "(u)"),
        ("asgd", "y = g;", ""),
        ("lars_momentum", "measured1 = g", "measured1 = w"),
        ("lamb", "+ decay * w);", ");"),
        ("ftrl", "s = n;", ""),
        ("papers.adabelief", "g - m", "g"),
        ("papers.adan", "p = g;", ""),
        ("papers.adamax", "(u != 0 ? m / u : (real)0)", "(m / u)"),
        ("papers.adamod", "rate < s ||", "rate > s ||"),
        ("papers.ademamix", "slow * m2", "m2"),
        ("papers.adopt", "normalized < -clip ? -clip", "normalized < -clip ? clip"),
        ("papers.ftml", "d = after;", ""),
        ("papers.lamb", "factor * m / (sqrt(v)", "m / (sqrt(v)"),
        ("papers.lion", "rest2 * g", "rest1 * g"),
        ("papers.laprop", "mu * m", "m"),
        ("papers.madgrad", "(x - s", "(w - s"),
        ("papers.novograd", "held[tensor[k]] = ", "t > 1 ? before : "),
        ("papers.qhadam", "direct2 * square", "square"),
        ("papers.qhm", "direct * g", "g"),
        ("papers.radam", "(root != 0 ? lr_t * m / root : (real)0)", "lr_t * m / root"),
        ("papers.radam", "root != 0 ?", "root > 0 ?"),  # which moves nothing where the root is NaN
        ("papers.yogi", "above < 0 ? (real)-1", "above < 0 ? (real)1"),
        ("torch.adamw", "keep * w", "w"),
        ("torch.adam", "u > v ||", "u < v ||"),
        ("torch.adafactor", "inverse > most ? most", "inverse < most ? most"),
        ("torch.adafactor", "kept * row_average[j]", "row_average[j]"),
        ("torch.adafactor", "(row_average[j] / below)", "(row_average[j])"),
        ("torch.asgd", "eta = after;", ""),
        ("torch.nadam", "of_g * g", "of_g * m"),
        ("torch.radam", "adaptive > 0 ? ", "true ? "),
        ("torch.rprop", "if (product < 0) g = 0;", ""),
        ("torch.sgd", "later > 0 ? ", "true ? "),
        ("clip_by_value", "g < low ? low", "g < low ? high"),
        ("clip_by_norm", "measured0 = g", "measured0 = g * g"),
        ("clip_by_global_norm", "? limit : norm", "? norm : limit"),
        ("clip_then_decay", "+ strength", "- strength"),
        ("l1_decay", "w < 0 ? -1", "w < 0 ? 1"),
        ("exponential_moving_average", "e / weight", "e"),
        ("model_average", " + previous", ""),
    ],
)
def test_a_planted_fault_is_rejected(name: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(before, after, monkeypatch)
    assert_rejected(cuda(""), name, "float32", HALF_QUICK)


@pytest.mark.filterwarnings("ignore")
def test_a_joint_norm_that_is_of_each_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    scaling = clips.scaling
    monkeypatch.setattr(clips, "scaling", lambda limit, joint: scaling(limit, joint=False))
    assert_rejected(cuda(""), "clip_by_global_norm", "float32", HALF_QUICK)


def stepped_on_special_values(name: str, hyper: dict[str, Any], engine: str) -> list[Any]:
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, 1.0]
    parameters, grad = (np.float32(side).reshape(-1).copy() for side in np.meshgrid(special, special))
    optimizer = Accelerated(name, [parameters], hyper, engine=engine)
    for gradient in (grad, grad[::-1], grad):
        optimizer.step([gradient], 0.1)
    state = optimizer.state_dict()
    return [parameters, *(state[slot][0] for slot in optimizer.slots)]


@pytest.mark.parametrize(("name", "hyper"), programs_where())
def test_nan_infinity_and_subnormals(name: str, hyper: dict[str, Any]) -> None:
    for ours, must in zip(
        *(stepped_on_special_values(name, hyper, engine) for engine in ("cuda", "numpy")), strict=True
    ):
        np.testing.assert_array_equal(ours, must)


def test_a_maximum_that_drops_nan_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(" || decayed != decayed", "", monkeypatch)
    ours, must = (stepped_on_special_values("adamax", {}, engine)[2] for engine in ("cuda", "numpy"))
    assert (np.isnan(ours) != np.isnan(must)).any()


@pytest.mark.parametrize(("name", "hyper"), variants_where(has_norms))
@pytest.mark.parametrize("barrier", [0, 1])
def test_every_barrier_of_a_sum_is_needed(
    name: str, hyper: dict[str, Any], barrier: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = state_bits(run(name, hyper, "float32", "cuda"))
    parts = cuda_text.COMMON.split("__syncthreads();")
    assert len(parts) == 3
    without = "__syncthreads();".join(parts[: barrier + 1]) + parts[barrier + 1]
    without += "".join(f"__syncthreads();{part}" for part in parts[barrier + 2 :])
    monkeypatch.setattr(cuda_text, "COMMON", without)
    assert state_bits(run(name, hyper, "float32", "cuda")) != right


def test_the_threads_of_a_real_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of doubles in another order round to the same float32, here. No body without a sum knows of threads."""
    bodies = [pass_.cuda for variant in programs_where() for pass_ in kernel(*variant.values).passes]
    assert not any(word in body for body in bodies for word in ("THREADS", "threadIdx", "blockIdx"))
    variants = [*EACH_KIND, *(variant.values for variant in programs_where(has_norms))]
    few = [state_bits(run(name, hyper, "float32", "cuda")) for name, hyper in variants]
    monkeypatch.setattr("optimetry.accelerated.inplace.device_of", lambda engine, parameters: Emulated(256))
    assert [state_bits(run(name, hyper, "float32", "cuda")) for name, hyper in variants] == few


@pytest.mark.parametrize(("name", "hyper"), programs_where())
def test_the_same_arrays_give_the_same_bits(name: str, hyper: dict[str, Any]) -> None:
    assert state_bits(run(name, hyper, "float64", "cuda")) == state_bits(run(name, hyper, "float64", "cuda"))


@pytest.mark.parametrize(("name", "hyper"), [*EACH_KIND, *(case.values for case in programs_where(has_norms))])
def test_the_touch_limit_computes_what_it_does_on_numpy(name: str, hyper: dict[str, Any]) -> None:
    touched = []
    for engine in ("cuda", "numpy"):
        optimizer = run(name, hyper, "float32", engine, steps=0)
        for _ in range(2):
            touching(optimizer, arrays("float32", 1))()
        touched.append(state_bits(optimizer))
    assert touched[0] == touched[1] != state_bits(run(name, hyper, "float32", "numpy", steps=0))


def test_fmad_is_another_arithmetic() -> None:
    plain, fused = (run("adam", {}, "float32", "cuda", fmad=fmad) for fmad in (False, True))
    assert state_bits(plain) != state_bits(fused)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_to_nearest_even(name: str) -> None:
    """Every half, and every float32 between two of them; on a device float16 has instructions of its own."""
    dtype = DTYPES[name].dtype
    halves = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    finite = np.sort(halves[np.isfinite(halves.astype(np.float32))].astype(np.float32))
    between = finite[1:] / 2 + finite[:-1] / 2
    hard = [finite, between, np.nextafter(between, np.float32(np.inf)), np.nextafter(between, np.float32(-np.inf))]
    numbers = np.concatenate([*hard, np.float32([np.inf, -np.inf, 1e-45, 3.4e38])])
    with np.errstate(all="ignore"):
        must = numbers.astype(dtype)
    text = f"{cuda_text.COMMON.format(real='float', threads=1, batch=1)}{cuda_text.HALVES[name]}"
    kernel = """
extern "C" __global__ void convert(const float* wide, half* halves, float* back) {
    halves[blockIdx.x] = narrow(wide[blockIdx.x]);
    back[blockIdx.x] = widen(halves[blockIdx.x]);
}
"""
    narrowed, widened = np.zeros(numbers.size, dtype), np.zeros(numbers.size, np.float32)
    compiled(text + kernel, "convert", False)(
        numbers.size, [array.ctypes.data for array in (numbers, narrowed, widened)]
    )
    assert narrowed.tobytes() == must.tobytes()
    assert widened.tobytes() == must.astype(np.float32).tobytes()


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_out_of_memory_changes_nothing(
    name: str, hyper: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimizer = run(name, hyper, dtype, "cuda", steps=2, multi_precision=True)
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
    before, messages = state_bits(optimizer), set()
    for allowed in range(100):
        left = allowed
        try:
            optimizer.step([grad.copy() for grad in grads], 0.1)
        except MemoryError as error:
            messages.add(str(error))
            assert state_bits(optimizer) == before
        else:
            break
    assert allowed > 1
    assert messages == {
        f"{name}: out of memory for a step; nothing has been changed: Out of memory allocating 512 bytes"
    }
    assert state_bits(optimizer) != before
    left = 0
    with pytest.raises(MemoryError, match=f"{name}: out of memory for the state: Out of memory allocating"):
        Accelerated(name, arrays(dtype, 0), hyper, engine="cuda")
