"""A device of NumPy arrays that runs CUDA C++ on the processor, compiled with g++: for tests without a CUDA device.

Hundreds of programs are compiled: none includes the standard library, which takes longer than the rest.

The threads of a block are fibres: each runs until ``__syncthreads``, then the next. So sums over a block, the tree and
its barriers included, run as on a device, only in turn.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.devices.host import Host
from optimetry.accelerated.devices.interface import Launch
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.engines import cuda, cuda_tiles
from optimetry.accelerated.source.cuda_text import HALVES
from optimetry.reference.errors import EngineUnavailableError

COMPILER = shutil.which("g++")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

SHIM = """
#include <ucontext.h>
#define __global__
#define __device__ static
#define __shared__ static
#define __builtin_assume(known)
static struct { int x; } threadIdx, blockIdx;
static ucontext_t fibres[1024], scheduler;
static bool ended[1024];
static inline void __syncthreads() { swapcontext(&fibres[threadIdx.x], &scheduler); }
static inline float sqrt(float x) { return __builtin_sqrtf(x); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline float fabs(float x) { return __builtin_fabsf(x); }
static inline double fabs(double x) { return __builtin_fabs(x); }
static inline double pow(double x, double y) { return __builtin_pow(x, y); }
static inline unsigned atomicAdd(unsigned* sum, unsigned term) {
    const unsigned before = *sum; *sum = before + term; return before;
}
static inline unsigned __float_as_uint(float x) { unsigned bits; __builtin_memcpy(&bits, &x, 4); return bits; }
static inline float __uint_as_float(unsigned bits) { float x; __builtin_memcpy(&x, &bits, 4); return x; }
"""

FLOAT16 = """
static inline float widen(half bits) {
    _Float16 number; __builtin_memcpy(&number, &bits, 2); return number;
}
static inline half narrow(float wide) {
    const _Float16 number = (_Float16)wide; half bits; __builtin_memcpy(&bits, &number, 2); return bits;
}
"""
"""In place of the two functions that consist of one instruction of the device."""

DRIVER = """
template <int...> struct Numbers {{}};
template <class... A, int... I>
static void call(void (*kernel)(A...), const i64* given, Numbers<I...>) {{ kernel((A)given[I]...); }}
template <class... A>
static void call(void (*kernel)(A...), const i64* given) {{
    call(kernel, given, Numbers<__integer_pack(sizeof...(A))...>());
}}

static const i64* arguments;
static void fibre(int thread) {{ call({name}, arguments); ended[thread] = true; }}

extern "C" void run(i64 blocks, const i64* given) {{
    constexpr bool waits = {waits};
    static char stacks[waits ? THREADS : 1][1 << 14];
    arguments = given;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {{
        if (!waits) {{
            for (threadIdx.x = 0; threadIdx.x < THREADS; ++threadIdx.x) call({name}, given);
            continue;
        }}
        for (int thread = 0; thread < THREADS; ++thread) {{
            getcontext(&fibres[thread]);
            fibres[thread].uc_stack.ss_sp = stacks[thread];
            fibres[thread].uc_stack.ss_size = sizeof stacks[thread];
            fibres[thread].uc_link = &scheduler;
            ended[thread] = false;
            makecontext(&fibres[thread], (void (*)())fibre, 1, thread);
        }}
        for (bool left = true; left;) {{
            left = false;
            for (threadIdx.x = 0; threadIdx.x < THREADS; ++threadIdx.x)
                if (!ended[threadIdx.x]) left = true, swapcontext(&scheduler, &fibres[threadIdx.x]);
        }}
    }}
}}
"""


class Emulated(Host):
    """The processor as a CUDA device.

    Args:
        threads: of one block. Few are fast; a device has 256.
    """

    library = "NumPy"
    engines = ("cuda",)

    def __init__(self, threads: int = 8) -> None:
        self.threads = threads

    def stream(self) -> int:
        return 0

    def renew(self, target: Array, values: bytes) -> None:
        target.reshape(-1).view(np.uint8)[:] = np.frombuffer(values, np.uint8)

    def compiled(self, text: str, name: str, *, fmad: bool) -> Launch:
        return compiled(text, name, fmad)


@cache
def compiled(text: str, name: str, fmad: bool) -> Launch:
    library = ctypes.CDLL(str(built(translated(text, name), fmad)))
    run = library.run
    run.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)]
    run.restype = None

    def launch(blocks: int, arguments: Sequence[int]) -> None:
        run(blocks, (ctypes.c_int64 * len(arguments))(*arguments))

    return launch


def translated(text: str, name: str) -> str:
    """C++ for g++: the text of a program between the definitions that it needs and the code that runs it."""
    text = text.replace(HALVES["float16"], FLOAT16)
    kernel = text[text.index('extern "C"') :]
    waits = any(barrier in kernel for barrier in ("__syncthreads(", "block_sum(", "sum_before(", "sum_rows("))
    return SHIM + text + DRIVER.format(name=name, waits=str(waits).lower())


def built(text: str, fmad: bool) -> Path:
    """The shared library of a program."""
    if COMPILER is None:
        raise EngineUnavailableError("g++ is not installed")
    contract = ["-O2", "-ffp-contract=fast", "-mfma"] if fmad else ["-O1", "-ffp-contract=off"]
    stem = hashlib.sha256(f"{contract}{text}".encode()).hexdigest()[:16]
    source, library = folder() / f"{stem}.cpp", folder() / f"{stem}.so"
    source.write_text(text, encoding="utf-8")
    # What a program calls, such as `pow`, this process has loaded, but for what g++ has of its own: without libraries
    # it takes half as long.
    options = ["-std=c++17", "-w", "-shared", "-fPIC", "-nostdlib", "-mf16c", *contract]
    done = subprocess.run(
        [COMPILER, *options, str(source), "-lgcc", "-o", str(library)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise EngineUnavailableError(f"g++ does not compile: {done.stderr[:300]}")
    return library


def plant(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace a text in every program that contains it."""
    texts = [(cuda, "pass_text"), (cuda, "norms_text")]
    texts += [(cuda_tiles, name) for name in ("tiled_text", "columns_text", "rows_text", "rates_text")]
    for module, name in texts:
        write = getattr(module, name)

        def changed(*arguments: Any, write: Any = write, **options: Any) -> str:
            text: str = write(*arguments, **options)
            return text.replace(before, after)

        monkeypatch.setattr(module, name, changed)


_FOLDER = tempfile.TemporaryDirectory(prefix="optimetry-emulated-", ignore_cleanup_errors=True)


def folder() -> Path:
    return Path(_FOLDER.name)
