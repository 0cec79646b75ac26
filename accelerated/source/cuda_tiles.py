"""Writes the CUDA C++ of kernels with factors of rows and columns: a block takes one tile, its threads the columns.

Four programs make a step: passes over tiles, the averages between the first two (a block for each matrix), and before
the last pass its first scalar (a block for each tensor). Sums have one fixed order, as in `cuda_text`.
"""

from __future__ import annotations

from textwrap import indent

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, OUT, PARAM, ROW, Kernel, Pass
from optimetry.accelerated.source.cuda_text import common, lines
from optimetry.accelerated.source.tile_text import UNIT

PASS = """
extern "C" __global__ void one_pass(
    const address* table, i64 items, const i64* unit, i64 units, const real* scalars, double* partial,
    double* across, double* down
) {{
{unit}
{pointers}
{scalars}
{totals}
    for (i64 y = 0; y < rows; ++y) {{
{mine}
        for (i64 x = threadIdx.x; x < width; x += THREADS) {{
            const i64 i = (top + y) * stride + left + x;
{elements}
            {{
{body}
            }}
{stores}
        }}
{crossed}
    }}
{sums}
}}
"""

RENEW = """
extern "C" __global__ void renew(
    const i64* matrices, i64 items, const address* slots, const double* share, const double* floor,
    const double* across, const double* down
) {{
    const i64 k = blockIdx.x, rows = matrices[k * 7], columns = matrices[k * 7 + 1], high = matrices[k * 7 + 2],
        wide = matrices[k * 7 + 3], across_at = matrices[k * 7 + 4], down_at = matrices[k * 7 + 5];
    const bool flat = matrices[k * 7 + 6];
    const double kept = share[k];
    real* const row_average = reinterpret_cast<real*>(slots[k]);
    real* const column_average = reinterpret_cast<real*>(slots[items + k]);
    real* const row = reinterpret_cast<real*>(slots[2 * items + k]);
    real* const column = reinterpret_cast<real*>(slots[3 * items + k]);
    for (i64 j = threadIdx.x; j < columns; j += THREADS) {{
        double mine = 0;
        for (i64 tile = 0; tile < high; ++tile) mine += down[down_at + tile * columns + j];
        column_average[j] = (real)(kept * column_average[j] + (1 - kept) * (mine / rows));
        column[j] = (real)(1 / sqrt((double)column_average[j]));
    }}
    double total = 0;
    for (i64 j = threadIdx.x; j < rows && !flat; j += THREADS) {{
        double mine = 0;
        for (i64 tile = 0; tile < wide; ++tile) mine += across[across_at + tile * rows + j];
        row_average[j] = (real)(kept * row_average[j] + (1 - kept) * (mine / columns));
        total += row_average[j];
    }}
    __shared__ double below;
    total = block_sum(total);
    if (threadIdx.x == 0) below = total / rows < *floor ? *floor : total / rows;
    __syncthreads();
    for (i64 j = threadIdx.x; j < rows; j += THREADS)
        row[j] = flat ? (real)1 : (real)(1 / sqrt(row_average[j] / below));
}}
"""

RATES = """
extern "C" __global__ void rates(
    const i64* first, const i64* sizes, const i64* updates, const double* before, const double* partial,
    const double* numbers, real* scalars
) {{
    const i64 k = blockIdx.x, t = updates[k];
    double total0 = 0, total1 = 0;
    for (i64 unit = first[k] + threadIdx.x; unit < first[k + 1]; unit += THREADS) {{
        total0 += before[unit * 2];
        total1 += partial[unit];
    }}
    total0 = block_sum(total0);
    total1 = block_sum(total1);
    if (threadIdx.x == 0) {{
        const double param_rms = sqrt(total0 / sizes[k]), update_rms = sqrt(total1 / sizes[k]);
{numbers}
        scalars[k * {width}] = (real)({rate});
    }}
}}
"""


def tiled_text(pass_: Pass, dtypes: DtypePair, threads: int, *, master: bool, crossed: bool) -> str:
    """Write the program of a pass over tiles, whose kernel is ``one_pass``; ``crossed`` as in `tile_text`."""
    names, held = pass_.arrays(master=master), pass_.held(dtypes, master=master)
    elements, scalars = pass_.arguments
    variable = dict(zip(pass_.reads, elements, strict=True))
    place = {ROW: "top + y", COLUMN: "left + x"}

    def pointer(number: int, name: str) -> str:
        kind = "half" if name in held else "real"
        return f"{kind}* const a{number} = reinterpret_cast<{kind}*>(table[{number} * items + k]);"

    def loaded(number: int, name: str) -> str:
        element = f"a{number}[{place.get(name, 'i')}]"
        return f"widen({element})" if name in held else element

    def stored(name: str) -> str:
        value = variable.get(name, variable.get(PARAM, ""))
        return f"narrow({value})" if name in held else value

    writes = (*pass_.writes, OUT) if OUT in names else pass_.writes
    sums, last = range(pass_.sums), pass_.sums - 1
    squared = [f"const double square{j} = (double)measured{j} * (double)measured{j};" for j in sums]
    return common(dtypes, threads) + PASS.format(
        unit=lines(1, (f"const i64 {name} = unit[{j} * units + blockIdx.x];" for j, name in enumerate(UNIT))),
        pointers=lines(1, (pointer(j, name) for j, name in enumerate(names))),
        scalars=lines(1, (f"const real {s} = scalars[r * {len(scalars)} + {j}];" for j, s in enumerate(scalars))),
        totals=lines(1, (f"double total{j} = 0;" for j in sums)),
        mine=lines(2, ("double mine = 0;",) if crossed else ()),
        elements=lines(
            3,
            (
                *(f"real {element} = {loaded(j, pass_.reads[j])};" for j, element in enumerate(elements)),
                *(f"real measured{j};" for j in sums),
            ),
        ),
        body=indent(pass_.cuda.strip("\n"), " " * 12),
        stores=lines(
            3,
            (
                *squared,
                *(f"total{j} += square{j};" for j in sums),
                *(
                    (f"mine += square{last};", f"down[down_at + x] = (y ? down[down_at + x] : 0) + square{last};")
                    if crossed
                    else ()
                ),
                *(f"a{names.index(name)}[i] = {stored(name)};" for name in writes),
            ),
        ),
        crossed=lines(
            2, ("mine = block_sum(mine);", "if (threadIdx.x == 0) across[across_at + y] = mine;") if crossed else ()
        ),
        sums=lines(
            1,
            (
                *(f"total{j} = block_sum(total{j});" for j in sums),
                *(f"if (threadIdx.x == 0) partial[blockIdx.x * {pass_.sums} + {j}] = total{j};" for j in sums),
            ),
        ),
    )


def renew_text(dtypes: DtypePair, threads: int) -> str:
    """Write the program of the averages of rows and columns, whose kernel is ``renew``."""
    return common(dtypes, threads) + RENEW.format()


def rates_text(kernel: Kernel, dtypes: DtypePair, threads: int) -> str:
    """Write the program between the last two passes: to the first scalar of the last. Its kernel is ``rates``."""
    pass_ = kernel.passes[-1]
    assert pass_.rate is not None
    numbers = enumerate(("lr", *pass_.rate.numbers))
    return common(dtypes, threads) + RATES.format(
        numbers=lines(2, (f"const double {name} = numbers[{j}];" for j, name in numbers)),
        width=len(pass_.arguments[1]),
        rate=pass_.rate.cuda,
    )
