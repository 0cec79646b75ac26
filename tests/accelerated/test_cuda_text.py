"""What NVRTC makes of every body, which takes no device: machine code, and PTX that is held to IEEE 754 arithmetic."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from optimetry.accelerated.devices import nvrtc
from optimetry.accelerated.devices.cuda import CudaDevice
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.selection import cuda as selection
from optimetry.accelerated.selection.selector import Keys
from optimetry.accelerated.source.cuda_text import norms_text, pass_text
from optimetry.accelerated.source.cuda_tiles import columns_text, rates_text, rows_text, tiled_text
from optimetry.reference.errors import EngineUnavailableError
from tests.accelerated import wrapped
from tests.accelerated.cases import EACH_KIND, has_norms, has_power, kernel, programs_where

WRAPPERS = [pytest.param(name, {}, id=name) for name in wrapped.WRAPPED]

ARCHITECTURES = ("80", "90", "100")

COMBINED = [
    *((dtype, ARCHITECTURES[0]) for dtype in DTYPES),
    *(("float32", architecture) for architecture in ARCHITECTURES[1:]),
]
"""Every dtype, and every architecture: what either changes of a program does not depend on the other."""

BODIES = [("float32", ARCHITECTURES[0]), ("float64", ARCHITECTURES[0])]
"""The types that bodies compute in: narrow dtypes, and architectures, change what stands around a body."""

THREADS = CudaDevice.threads


def available() -> str | None:
    try:
        nvrtc.compiled("", "compute_80", fmad=False)
    except EngineUnavailableError as error:
        return str(error)
    return None


pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

ALLOWED = re.compile(
    r"(add|sub|mul|div|rcp|sqrt)\.rn\.f(32|64)"  # one operation of IEEE 754, rounded to nearest
    r"|cvt\.f32\.f16|cvt\.f64\.f32|cvt\.rn\.f16\.f32|cvt\.rn\.f32\.f64"  # exact, or rounded to nearest
    r"|cvt\.rn\.f64\.s64"  # counts and update numbers, alike
    r"|(abs|neg|mov|selp)\.f(32|64)|setp\.\w+\.f(32|64)"  # no arithmetic
    r"|(ld|st)(\.\w+)*\.f(32|64)"
)
"""The instructions on floating-point numbers that a program may consist of."""

FUSIBLE = re.compile(r"(add|sub|mul)\.f(32|64)|fma\.rn\.f(32|64)")
"""What ``fmad`` adds: operations that are fused, and those that later stages may still fuse."""


def instructions(ptx: str) -> Counter[str]:
    """How often each instruction on floating-point numbers occurs, and each that is atomic."""
    opcodes = re.findall(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.\w+)+)\s", ptx, re.MULTILINE)
    return Counter(name for name in opcodes if re.search(r"\.b?f(16|32|64)|approx|ftz|^atom|^red", name))


def suspicious(ptx: str) -> set[str]:
    """Instructions that round otherwise than NumPy does, or in no fixed order."""
    return {name for name in instructions(ptx) if not ALLOWED.fullmatch(name)}


def programs(kernels: list[Kernel], dtype: str) -> list[str]:
    """Every program of some kernels in one dtype, without and with master copies."""
    dtypes, texts = DTYPES[dtype], []
    for made in kernels:
        if made.factors is not None:
            texts += [
                columns_text(dtypes, THREADS),
                rows_text(dtypes, THREADS),
                rates_text(made.passes[-1], dtypes, THREADS),
            ]
            texts += [
                tiled_text(pass_, dtypes, THREADS, master=master, crossed=pass_ is made.passes[0])
                for pass_ in made.passes
                for master in {False, dtypes.narrow}
            ]
            continue
        for j, pass_ in enumerate(made.passes):
            texts += [pass_text(pass_, dtypes, THREADS, master=master) for master in {False, dtypes.narrow}]
            if pass_.rate is not None:
                texts.append(norms_text(made.passes[j - 1], pass_, dtypes, THREADS))
    return texts


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", selection.KERNELS)
def test_selection_is_compiled_and_computes_in_whole_numbers(kernel: str, dtype: str) -> None:
    text = selection.text(kernel, Keys.of(DTYPES[dtype].dtype), THREADS)
    for architecture in ARCHITECTURES:
        counted = instructions(assembled(text, architecture))
        assert not [name for name in counted if re.search(r"f(16|32|64)", name)]
        atomic = {name for name in counted if name.startswith(("atom", "red"))}
        assert all(name.endswith("add.u32") for name in atomic)
        assert bool(atomic) == (kernel == "count")


def kernels(name: str, hyper: dict[str, Any]) -> list[Kernel]:
    """The kernels of a wrapper, or the one kernel of a rule."""
    return wrapped.kernels(name) if name in wrapped.WRAPPED else [kernel(name, hyper)]


def ptx_of(text: str, *, fmad: bool = False) -> str:
    return nvrtc.compiled(text, "compute_80", fmad=fmad).ptx.decode()


def assembled(text: str, architecture: str) -> str:
    """The PTX of a program that has become machine code for an architecture."""
    made = nvrtc.compiled(text, f"sm_{architecture}", fmad=False)
    assert made.machine_code.startswith(b"\x7fELF")
    return made.ptx.decode()


def with_body(name: str, body: str) -> str:
    """The program of a rule of one pass with another body, in float32."""
    pass_ = replace(kernel(name, {}).passes[0], cuda=body)
    return pass_text(pass_, DTYPES["float32"], THREADS, master=False)


@pytest.mark.parametrize(("dtype", "architecture"), COMBINED)
@pytest.mark.parametrize(("name", "hyper"), programs_where(has_power))
def test_a_program_with_a_general_power_becomes_machine_code(
    name: str, hyper: dict[str, Any], dtype: str, architecture: str
) -> None:
    for text in programs(kernels(name, hyper), dtype):
        assert suspicious(assembled(text, architecture))


def stands_for_others(name: str, hyper: dict[str, Any]) -> bool:
    """Whether a program is a wrapper's, has sums, or is the one of its kind whose surroundings are compiled for all."""
    return name in wrapped.WRAPPED or (name, hyper) in EACH_KIND or has_norms(kernel(name, hyper))


EXACT = [
    pytest.param(*program.values, dtype, architecture, id=f"{program.id}-{dtype}-{architecture}")
    for program in [*programs_where(lambda kernel: not has_power(kernel)), *WRAPPERS]
    for dtype, architecture in (COMBINED if stands_for_others(*program.values) else BODIES)
]
"""All but general powers, which are the library's."""


@pytest.mark.parametrize(("name", "hyper", "dtype", "architecture"), EXACT)
def test_every_operation_is_rounded_to_nearest(name: str, hyper: dict[str, Any], dtype: str, architecture: str) -> None:
    for text in programs(kernels(name, hyper), dtype):
        ptx = assembled(text, architecture)
        assert not suspicious(ptx)
        assert any(name.startswith("ld.") for name in instructions(ptx))


@pytest.mark.parametrize(
    ("name", "hyper", "dtype"),
    [pytest.param(*case.values[:3], id=case.id) for case in EXACT if case.values[3] == ARCHITECTURES[0]],
)
def test_fmad_fuses_and_does_nothing_else(name: str, hyper: dict[str, Any], dtype: str) -> None:
    suspects = [suspicious(ptx_of(text, fmad=True)) for text in programs(kernels(name, hyper), dtype)]
    assert all(FUSIBLE.fullmatch(instruction) for names in suspects for instruction in names)
    computes = any(re.search(r"[-+*/]", pass_.cuda) for made in kernels(name, hyper) for pass_ in made.passes)
    assert any(suspects) == computes  # a clip by value compares alone


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "hyper"), programs_where(has_power))
def test_a_general_power_is_the_librarys_and_the_rest_is_ours(name: str, hyper: dict[str, Any], dtype: str) -> None:
    (pass_,) = kernel(name, hyper).passes
    without = pass_.cuda.replace("power_of(", "select(")  # the same text with a function that computes nothing
    select = "__device__ real select(real a, real b) { return a > b ? a : b; }\n"
    ours = pass_text(replace(pass_, cuda=without), DTYPES[dtype], THREADS, master=False)
    assert not suspicious(ptx_of(ours.replace("\nextern", f"\n{select}extern")))
    power, bare = (
        suspicious(ptx_of(pass_text(replace(pass_, cuda=cuda), DTYPES[dtype], THREADS, master=False)))
        for cuda in (pass_.cuda, "w = power_of(w, g);")
    )
    assert power
    assert power <= bare


@pytest.mark.parametrize(
    ("body", "instruction"),
    [
        ("w = w - __fdividef(lr, g);", "div.approx.f32"),
        ("w = w - lr * rsqrtf(g);", "rsqrt.approx.f32"),
        ("w = w - lr * __fsqrt_rz(g);", "sqrt.rz.f32"),
        ("w = __fmaf_rn(-lr, g, w);", "fma.rn.f32"),
        ("w = fmaxf(w, lr * g);", "max.f32"),
        ("w = w - lr * g; atomicAdd((float*)table[0], w);", "atom.add.f32"),
    ],
)
def test_a_planted_instruction_is_found(body: str, instruction: str) -> None:
    suspects = suspicious(ptx_of(with_body("sgd", body)))
    assert any(name.startswith(instruction.rsplit(".", 1)[0]) for name in suspects)


@pytest.mark.parametrize(
    ("name", "body", "instruction"),
    [
        ("clip_by_value", "g = fminf(fmaxf(g, low), high);", "max.f32"),
        ("l1_decay", "g = g + strength * copysignf(1, w) + __frcp_rz(w);", "rcp.rz.f32"),
        ("exponential_moving_average", "e = __fdividef(w, decay);", "div.approx.f32"),
        ("model_average", "atomicAdd((float*)table[0], w);", "atom.add.f32"),
    ],
)
def test_a_planted_instruction_is_found_in_a_wrapper(name: str, body: str, instruction: str) -> None:
    pass_ = replace(wrapped.kernels(name)[0].passes[0], cuda=body)
    suspects = suspicious(ptx_of(pass_text(pass_, DTYPES["float32"], THREADS, master=False)))
    assert any(name.startswith(instruction.rsplit(".", 1)[0]) for name in suspects)


def test_the_flags_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = programs(kernels("adam", {}), "float32")[0]
    assert "fma.rn.f32" in suspicious(ptx_of(text, fmad=True))
    monkeypatch.setattr(nvrtc, "OPTIONS", ("--std=c++17", "--ftz=true", "--prec-div=false", "--prec-sqrt=false"))
    suspects = suspicious(ptx_of(text))
    assert "mul.rn.ftz.f32" in suspects or "mul.ftz.f32" in suspects
    assert any("approx" in name for name in suspects)


def test_a_body_that_is_no_cuda() -> None:
    with pytest.raises(EngineUnavailableError, match=r"NVRTC does not compile for sm_80: .*error: .*learning_rate"):
        nvrtc.compiled(with_body("sgd", "w = w - learning_rate * g;"), "sm_80", fmad=False)
    with pytest.raises(EngineUnavailableError, match=r"sm_1: .*invalid value for --gpu-architecture"):
        nvrtc.compiled("", "sm_1", fmad=False)


def test_without_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc._library.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    with pytest.raises(EngineUnavailableError, match="NVRTC cannot be loaded: ModuleNotFoundError"):
        nvrtc.compiled("", "compute_80", fmad=False)
    nvrtc._library.cache_clear()


@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_are_moved_16_bytes_at_once_and_in_global_memory(dtype: str) -> None:
    """Adam reads four arrays and writes three; of a narrow dtype the moments are twice as wide."""
    ptx = ptx_of(programs([kernel("adam", {})], dtype)[0])
    accesses = re.findall(r"^\s*(?:@!?%p\d+\s+)?(ld|st)\.(\w+)(?:\.v(\d))?\.[a-z](\d+)\s", ptx, re.MULTILINE)
    assert {place for _, place, _, _ in accesses} == {"global", "param"}
    sizes = {int(together) * int(bits) for _, _, together, bits in accesses if together}
    assert sizes == {128}
    wide = Counter(kind for kind, _, together, _ in accesses if together)
    assert wide == ({"ld": 6, "st": 5} if DTYPES[dtype].narrow else {"ld": 4, "st": 3})
