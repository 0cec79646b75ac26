"""Writes the CUDA C++ around the body of a pass: one launch for all parameters of a dtype.

A launch finds parameters by a table of their addresses. A block takes one unit. Its threads load some elements each
before they compute and store, so that memory is never idle. For Adam in float32 it reads, in short::

    const i64 unit = blockIdx.x, k = item[unit], length = count[unit];
    float* const a0 = table[0 * items + k] + start[unit];  // param, and so on
    const real lr_t = scalars[row[k] * 6 + 0];  // and so on
    for (i64 base = threadIdx.x; base < length; base += BATCH * THREADS) {
        real b0[BATCH], ...;  // loaded
        for (each of them) {
            real w = b0[j], g = b1[j], m = b2[j], v = b3[j];
            { the body }
            a0[i] = w; a2[i] = m; a3[i] = v;
        }
    }

Norms are summed in double precision and in one fixed order: each thread over its elements, a tree over the threads of a
block, then likewise over the units of an item, or by one block over all units, where a norm is of all items together.
There are no atomics, so the same arrays give the same bits.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from textwrap import indent

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import OUT, PARAM, Pass

BATCH = 4
"""How many elements a thread loads before it stores the first."""

REAL = {"float32": "float", "float64": "double"}

HALVES = {
    "float16": """
__device__ inline float widen(half bits) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
    return number;
}
__device__ inline half narrow(float number) {
    half bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    return bits;
}
""",
    "bfloat16": """
__device__ inline float widen(half bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ inline half narrow(float number) {
    const unsigned bits = __float_as_uint(number);
    const unsigned rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return (half)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}
""",
}
"""float16 and bfloat16 as bits: no header of CUDA is needed."""

COMMON = """
typedef long long i64;
typedef unsigned long long address;
typedef unsigned short half;
typedef {real} real;
constexpr int THREADS = {threads}, BATCH = {batch};

// Wide in any format: powf errs by more than a rounding.
__device__ inline real power_of(real base, real exponent) {{ return (real)pow((double)base, (double)exponent); }}

// The sum over the threads of a block, for its first thread.
__device__ inline double block_sum(double mine) {{
    __shared__ double lane[THREADS];
    lane[threadIdx.x] = mine;
    __syncthreads();
    for (int half_of = THREADS / 2; half_of > 0; half_of /= 2) {{
        if (threadIdx.x < half_of) lane[threadIdx.x] += lane[threadIdx.x + half_of];
        __syncthreads();
    }}
    return lane[0];
}}
"""

PASS = """
extern "C" __global__ void one_pass(
    const address* table, i64 items, const i64* item, const i64* start, const i64* count, const i64* row,
    const real* scalars, double* partial
) {{
    const i64 unit = blockIdx.x, k = item[unit], length = count[unit];
{pointers}
{scalars}
{totals}
    for (i64 base = threadIdx.x; base < length; base += BATCH * THREADS) {{
{batches}
        #pragma unroll
        for (int j = 0; j < BATCH; ++j) {{
            const i64 i = base + j * THREADS;
            if (i < length) {{
{loads}
            }}
        }}
        #pragma unroll
        for (int j = 0; j < BATCH; ++j) {{
            const i64 i = base + j * THREADS;
            if (i < length) {{
{elements}
                {{
{body}
                }}
{stores}
            }}
        }}
    }}
{sums}
}}
"""

NORMS = """
extern "C" __global__ void norms(
    const i64* first, const double* partial, const double* numbers, real* scalars{held}
) {{
    const i64 k = blockIdx.x;
{totals}
    for (i64 unit = first[k] + threadIdx.x; unit < first[k + 1]; unit += THREADS) {{
{adds}
    }}
{sums}
    if (threadIdx.x == 0) {{
{names}
{number}
        scalars[k * {width}] = (real)({rate});
    }}
}}
"""


def pass_text(pass_: Pass, dtypes: DtypePair, threads: int, *, master: bool) -> str:
    """Write the program of a pass; its kernel is ``one_pass``."""
    names, held = pass_.arrays(master=master), pass_.held(dtypes, master=master)
    elements, scalars = pass_.arguments
    variable = dict(zip(pass_.reads, elements, strict=True))
    variable[OUT] = variable.get(PARAM, "")
    writes = (*pass_.writes, OUT) if OUT in names else pass_.writes

    def loaded(name: str, number: int) -> str:
        return f"widen(a{number}[i])" if name in held else f"a{number}[i]"

    def stored(name: str) -> str:
        return f"narrow({variable[name]})" if name in held else variable[name]

    def pointer(name: str, number: int) -> str:
        kind = "half" if name in held else "real"
        return f"{kind}* const a{number} = reinterpret_cast<{kind}*>(table[{number} * items + k]) + start[unit];"

    sums = range(pass_.sums)
    return common(dtypes, threads) + PASS.format(
        pointers=lines(1, (pointer(name, j) for j, name in enumerate(names))),
        scalars=lines(1, (f"const real {s} = scalars[row[k] * {len(scalars)} + {j}];" for j, s in enumerate(scalars))),
        totals=lines(1, (f"double total{j} = 0;" for j in sums)),
        batches=lines(2, (f"real b{j}[BATCH];" for j in range(len(pass_.reads)))),
        loads=lines(4, (f"b{j}[j] = {loaded(name, j)};" for j, name in enumerate(pass_.reads))),
        elements=lines(
            4,
            (
                *(f"real {element} = b{j}[j];" for j, element in enumerate(elements)),
                *(f"real measured{j};" for j in sums),
            ),
        ),
        body=indent(pass_.cuda.strip("\n"), " " * 16),
        stores=lines(
            4,
            (
                *(f"total{j} += (double)measured{j} * (double)measured{j};" for j in sums),
                *(f"a{names.index(name)}[i] = {stored(name)};" for name in writes),
            ),
        ),
        sums=lines(
            1,
            (
                *(f"total{j} = block_sum(total{j});" for j in sums),
                *(f"if (threadIdx.x == 0) partial[unit * {pass_.sums} + {j}] = total{j};" for j in sums),
            ),
        ),
    )


def norms_text(measured: Pass, pass_: Pass, dtypes: DtypePair, threads: int) -> str:
    """Write the program between two passes: from the sums of ``measured`` to the first scalar of ``pass_``.

    Its kernel is ``norms``.
    """
    assert pass_.rate is not None
    norms = list(inspect.signature(pass_.scalars).parameters)[2:]
    sums = range(measured.sums)
    return common(dtypes, threads) + NORMS.format(
        totals=lines(1, (f"double total{j} = 0;" for j in sums)),
        adds=lines(2, (f"total{j} += partial[unit * {measured.sums} + {j}];" for j in sums)),
        sums=lines(1, (f"total{j} = block_sum(total{j});" for j in sums)),
        names=lines(
            2,
            (
                *(f"const double {norm} = sqrt(total{j});" for j, norm in enumerate(norms[: measured.sums])),
                *(f"const double {number} = numbers[{j}];" for j, number in enumerate(("lr", *pass_.rate.numbers))),
            ),
        ),
        held=", real* held, const i64* tensor, const i64* update" if pass_.number else "",
        number=lines(
            2,
            (
                "const i64 t = update[k];",
                "const double before = held[tensor[k]];",
                f"held[tensor[k]] = (real)({pass_.number.cuda});",
                f"const double {norms[-1]} = held[tensor[k]];",
            )
            if pass_.number
            else (),
        ),
        width=len(pass_.arguments[1]),
        rate=pass_.rate.cuda,
    )


def common(dtypes: DtypePair, threads: int) -> str:
    """Write what every program begins with."""
    text = COMMON.format(real=REAL[dtypes.compute.name], threads=threads, batch=BATCH)
    return text + HALVES.get(dtypes.name, "")


def lines(depth: int, text: Iterable[str]) -> str:
    """Write lines, indented."""
    return "\n".join("    " * depth + line for line in text)
