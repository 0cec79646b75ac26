"""Writes the CUDA C++ around the body of a pass: one launch for all parameters of a dtype.

A launch finds parameters by a table of their addresses. A block takes one unit. A thread loads some elements that are
neighbours, 16 bytes at once where they are aligned, computes, and stores them. For Adam in float32 it reads, in short::

    const i64 unit = blockIdx.x, k = item[unit], length = count[unit];
    float* const a0 = table[0 * items + k] + start[unit];  // param, and so on
    const real lr_t = scalars[row[k] * 6 + 0];  // and so on
    for (i64 base = threadIdx.x * BATCH; base < length; base += BATCH * THREADS) {
        real b0[BATCH], ...;
        load(b0, a0 + base); ...
        for (each of them) {
            real w = b0[j], g = b1[j], m = b2[j], v = b3[j];
            { the body }
            b0[j] = w; b2[j] = m; b3[j] = v;
        }
        store(a0 + base, b0); ...
    }

Norms are summed in double precision and in one fixed order: each thread over its elements, a tree over the threads of a
block, then likewise over the units of an item, or by one block over all units, where a norm is of all items together.
There are no atomics, so the same arrays give the same bits.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from textwrap import indent

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, OUT, PARAM, ROW, Pass

ACCESS = 16
"""The bytes that a thread moves at once, at most: as many neighbours of the narrowest array are its elements."""

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

NEIGHBOURS = """
// As many neighbours as are moved at once, and they.
template <class held> constexpr int TOGETHER = BATCH * sizeof(held) < {access} ? BATCH : {access} / sizeof(held);
template <class held> struct alignas(TOGETHER<held> * sizeof(held)) Words {{ held number[TOGETHER<held>]; }};

__device__ inline real widen(real number) {{ return number; }}
__device__ inline void keep(real& place, real number) {{ place = number; }}
{keep_half}
// Move BATCH numbers, which are aligned.
template <class held> __device__ inline void load(real (&to)[BATCH], const held* from) {{
    #pragma unroll
    for (int j = 0; j < BATCH; j += TOGETHER<held>) {{
        const Words<held> words = *reinterpret_cast<const Words<held>*>(from + j);
        #pragma unroll
        for (int n = 0; n < TOGETHER<held>; ++n) to[j + n] = widen(words.number[n]);
    }}
}}
template <class held> __device__ inline void store(held* to, const real (&from)[BATCH]) {{
    #pragma unroll
    for (int j = 0; j < BATCH; j += TOGETHER<held>) {{
        Words<held> words;
        #pragma unroll
        for (int n = 0; n < TOGETHER<held>; ++n) keep(words.number[n], from[j + n]);
        *reinterpret_cast<Words<held>*>(to + j) = words;
    }}
}}

// Move those of BATCH numbers that remain, one by one; the others are 0.
template <class held> __device__ inline void load(real (&to)[BATCH], const held* from, i64 remaining) {{
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) to[j] = j < remaining ? widen(from[j]) : (real)0;
}}
template <class held> __device__ inline void store(held* to, const real (&from)[BATCH], i64 remaining) {{
    #pragma unroll
    for (int j = 0; j < BATCH; ++j)
        if (j < remaining) keep(to[j], from[j]);
}}
"""

KEEP_HALF = "__device__ inline void keep(half& place, real number) { place = narrow(number); }"

PASS = """
extern "C" __global__ void one_pass(
    const address* table, i64 items, const i64* item, const i64* start, const i64* count, const i64* row,
    const real* scalars, double* partial
) {{
    const i64 unit = blockIdx.x, k = item[unit], length = count[unit];
{pointers}
{scalars}
{totals}
    for (i64 base = (i64)threadIdx.x * BATCH; base < length; base += BATCH * THREADS) {{
        const i64 remaining = length - base;
        const bool whole = aligned && remaining >= BATCH;
{moved}
    }}
{sums}
}}
"""

MOVED = """\
{batches}
if (whole) {{
{loads}
}} else {{
{single_loads}
}}
#pragma unroll
for (int j = 0; j < BATCH; ++j) {{
{elements}
    {{
{body}
    }}
{results}
}}
if (whole) {{
{stores}
}} else {{
{single_stores}
}}"""
"""What a thread does with some neighbours, of which ``remaining`` are its; all arrays begin at ``base`` elements."""

NORMS = """
extern "C" __global__ void norms(
    const i64* first, const double* partial, const double* numbers, real* scalars{held}
) {{
    const i64 k = blockIdx.x;
{totals}
    #pragma unroll 4
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
    (_, scalars), sums = pass_.arguments, range(pass_.sums)
    squares = [f"total{j} += j < remaining ? (double)measured{j} * (double)measured{j} : 0;" for j in sums]
    return common(dtypes, threads) + PASS.format(
        pointers=pointers(pass_, dtypes, {PARAM: "start[unit]"}, master=master),
        scalars=lines(1, (f"const real {s} = scalars[row[k] * {len(scalars)} + {j}];" for j, s in enumerate(scalars))),
        totals=lines(1, (f"double total{j} = 0;" for j in sums)),
        moved=indent(moved(pass_, master=master, squares=squares), " " * 8),
        sums=summed(pass_),
    )


def summed(pass_: Pass) -> str:
    """Write how a block sums what its threads have, and keeps it for its unit or tile."""
    sums = range(pass_.sums)
    adding = [f"total{j} = block_sum(total{j});" for j in sums]
    kept = [f"if (threadIdx.x == 0) partial[blockIdx.x * {pass_.sums} + {j}] = total{j};" for j in sums]
    return lines(1, (*adding, *kept))


def pointers(pass_: Pass, dtypes: DtypePair, starts: Mapping[str, str], *, master: bool) -> str:
    """Write the pointers to the arrays of a pass, ``a0`` and so on, and whether all are ``aligned``.

    Each begins ``starts[name]`` elements behind its address, or else where `PARAM` does. A compiler cannot see from an
    address out of a table that it is one of global memory.
    """
    names, held = pass_.arrays(master=master), pass_.held(dtypes, master=master)
    text = []
    for j, name in enumerate(names):
        kind, start = "half" if name in held else "real", starts.get(name, starts[PARAM])
        text.append(f"{kind}* const a{j} = reinterpret_cast<{kind}*>(table[{j} * items + k]) + {start};")
        text.append(f"__builtin_assume(__isGlobal(a{j}));")
    together = " | ".join(f"(address)a{j}" for j, name in enumerate(names) if name != ROW)  # read one by one
    return lines(1, (*text, f"const bool aligned = ({together}) % {ACCESS} == 0;"))


def moved(pass_: Pass, *, master: bool, squares: Iterable[str]) -> str:
    """Write what a thread does with some neighbours: load them, compute, sum ``squares``, and store them.

    Of tiles, `ROW` is one number for all of them, and `COLUMN` the same in each row.
    """
    names, (elements, _) = pass_.arrays(master=master), pass_.arguments
    number = {name: j for j, name in enumerate(pass_.reads)}
    loaded = [(j, "x" if name == COLUMN else "base") for name, j in number.items() if name != ROW]
    written = [(names.index(name), number[name]) for name in pass_.writes]
    written += [(names.index(OUT), number[PARAM])] if OUT in names else []
    return MOVED.format(
        batches=lines(0, (f"real b{j}[BATCH];" for j, _ in loaded)),
        loads=lines(1, (f"load(b{j}, a{j} + {place});" for j, place in loaded)),
        single_loads=lines(1, (f"load(b{j}, a{j} + {place}, remaining);" for j, place in loaded)),
        elements=lines(
            1,
            (
                *(
                    f"real {element} = {f'a{j}[y]' if name == ROW else f'b{j}[j]'};"
                    for (name, j), element in zip(number.items(), elements, strict=True)
                ),
                *(f"real measured{j};" for j in range(pass_.sums)),
            ),
        ),
        body=indent(pass_.cuda.strip("\n"), " " * 4),
        results=lines(1, (*squares, *(f"b{number[name]}[j] = {elements[number[name]]};" for name in pass_.writes))),
        stores=lines(1, (f"store(a{to} + base, b{j});" for to, j in written)),
        single_stores=lines(1, (f"store(a{to} + base, b{j}, remaining);" for to, j in written)),
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
    text = COMMON.format(real=REAL[dtypes.compute.name], threads=threads, batch=batch_of(dtypes))
    keep_half = KEEP_HALF if dtypes.narrow else ""
    return text + HALVES.get(dtypes.name, "") + NEIGHBOURS.format(access=ACCESS, keep_half=keep_half)


def batch_of(dtypes: DtypePair) -> int:
    """Return how many neighbours a thread takes at once."""
    return ACCESS // dtypes.dtype.itemsize


def lines(depth: int, text: Iterable[str]) -> str:
    """Write lines, indented."""
    return "\n".join("    " * depth + line for line in text)
