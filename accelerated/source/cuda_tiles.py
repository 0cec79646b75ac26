"""Writes the CUDA C++ of kernels with factors of rows and columns: a block takes one tile, its threads the columns.

Five programs make a step: passes over tiles; between the first two the averages of columns (a block for some columns)
and those of rows (a block for each matrix); and before the last pass its first scalar (a block for each tensor). A
thread moves neighbours of a row as in `cuda_text`, so a tile has no more columns than threads have elements at once.
Sums have one fixed order, as there: those of a column are a thread's own, those of rows are taken of some rows at once.
"""

from __future__ import annotations

from textwrap import indent

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, PARAM, ROW, Pass
from optimetry.accelerated.source.cuda_text import common, lines, moved, pointers, summed
from optimetry.accelerated.source.tile_text import UNIT

GROUP = 8
"""The rows whose sums are taken at once: as many shares of the threads of a block add them up."""

PASS = """
extern "C" __global__ void one_pass(
    const address* table, i64 items, const i64* unit, i64 units, const real* scalars, double* partial,
    double* across, double* down
) {{
{unit}
{pointers}
{scalars}
{totals}
    const i64 x = (i64)threadIdx.x * BATCH, remaining = width - x;
    const bool whole = aligned && stride % BATCH == 0 && remaining >= BATCH;
{rows}
{sums}
}}
"""

ROWS = """\
    for (i64 y = 0; y < rows; ++y) {{
        const i64 base = y * stride + x;
{moved}
    }}"""

CROSSED = """\
    double down_sum[BATCH] = {{}};
    for (i64 first = 0; first < rows; first += GROUP) {{
        double across_sum[GROUP] = {{}};
        #pragma unroll
        for (int turn = 0; turn < GROUP; ++turn) {{
            const i64 y = first + turn, base = y * stride + x;
            if (y < rows) {{
{moved}
            }}
        }}
        sum_rows(across_sum, across + across_at + first, rows - first);
    }}
    #pragma unroll
    for (int j = 0; j < BATCH; ++j)
        if (j < remaining) down[down_at + x + j] = down_sum[j];"""

SUM_ROWS = """
constexpr int GROUP = {group}, SHARE = THREADS / GROUP;

// Sum numbers of each of some rows over the threads of a block; the first thread of a share writes that of its row.
__device__ inline void sum_rows(const double (&mine)[GROUP], double* sums, i64 remaining) {{
    __shared__ double lane[GROUP][THREADS];
    const int r = threadIdx.x / SHARE, first = threadIdx.x % SHARE;
    for (int row = 0; row < GROUP; ++row) lane[row][threadIdx.x] = mine[row];
    __syncthreads();
    double total = 0;
    for (int thread = first; thread < THREADS; thread += SHARE) total += lane[r][thread];
    lane[r][first] = total;
    __syncthreads();
    if (first == 0 && r < remaining) {{
        total = 0;
        for (int thread = 0; thread < SHARE; ++thread) total += lane[r][thread];
        sums[r] = total;
    }}
    __syncthreads();
}}
"""

RENEW_COLUMNS = """
extern "C" __global__ void renew_columns(
    const i64* matrices, i64 items, const i64* piece, const address* slots, const double* share, const double* down
) {{
    const i64 k = piece[blockIdx.x * 2], j = piece[blockIdx.x * 2 + 1] + threadIdx.x;
    const i64 rows = matrices[k * 7], columns = matrices[k * 7 + 1], high = matrices[k * 7 + 2];
    if (j >= columns) return;
    real* const average = reinterpret_cast<real*>(slots[items + k]) + j;
    double mine = 0;
    #pragma unroll 8
    for (i64 tile = 0; tile < high; ++tile) mine += down[matrices[k * 7 + 5] + tile * columns + j];
    *average = (real)(share[k] * *average + (1 - share[k]) * (mine / rows));
    reinterpret_cast<real*>(slots[3 * items + k])[j] = (real)(1 / sqrt((double)*average));
}}
"""

RENEW_ROWS = """
extern "C" __global__ void renew_rows(
    const i64* matrices, i64 items, const address* slots, const double* share, const double* floor, const double* across
) {{
    const i64 k = blockIdx.x, rows = matrices[k * 7], columns = matrices[k * 7 + 1], wide = matrices[k * 7 + 3];
    const bool flat = matrices[k * 7 + 6];
    const double kept = share[k];
    real* const row_average = reinterpret_cast<real*>(slots[k]);
    real* const row = reinterpret_cast<real*>(slots[2 * items + k]);
    double total = 0;
    for (i64 j = threadIdx.x; j < rows && !flat; j += THREADS) {{
        double mine = 0;
        #pragma unroll 4
        for (i64 tile = 0; tile < wide; ++tile) mine += across[matrices[k * 7 + 4] + tile * rows + j];
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
    (_, scalars), sums = pass_.arguments, range(pass_.sums)
    squares = [f"const double square{j} = j < remaining ? (double)measured{j} * (double)measured{j} : 0;" for j in sums]
    squares += [f"total{j} += square{j};" for j in sums]
    squares += [f"{total} += square{pass_.sums - 1};" for total in ("across_sum[turn]", "down_sum[j]") if crossed]
    starts = {PARAM: "top * stride + left", ROW: "top", COLUMN: "left"}
    moving = indent(moved(pass_, master=master, squares=squares), " " * (16 if crossed else 8))
    return (
        common(dtypes, threads)
        + SUM_ROWS.format(group=GROUP) * crossed
        + PASS.format(
            unit=lines(1, (f"const i64 {name} = unit[{j} * units + blockIdx.x];" for j, name in enumerate(UNIT))),
            pointers=pointers(pass_, dtypes, starts, master=master),
            scalars=lines(1, (f"const real {s} = scalars[r * {len(scalars)} + {j}];" for j, s in enumerate(scalars))),
            totals=lines(1, (f"double total{j} = 0;" for j in sums)),
            rows=(CROSSED if crossed else ROWS).format(moved=moving),
            sums=summed(pass_),
        )
    )


def columns_text(dtypes: DtypePair, threads: int) -> str:
    """Write the program of the averages of columns, whose kernel is ``renew_columns``."""
    return common(dtypes, threads) + RENEW_COLUMNS.format()


def rows_text(dtypes: DtypePair, threads: int) -> str:
    """Write the program of the averages of rows, whose kernel is ``renew_rows``."""
    return common(dtypes, threads) + RENEW_ROWS.format()


def rates_text(pass_: Pass, dtypes: DtypePair, threads: int) -> str:
    """Write the program before a pass, to its first scalar; its kernel is ``rates``."""
    assert pass_.rate is not None
    numbers = enumerate(("lr", *pass_.rate.numbers))
    return common(dtypes, threads) + RATES.format(
        numbers=lines(2, (f"const double {name} = numbers[{j}];" for j, name in numbers)),
        width=len(pass_.arguments[1]),
        rate=pass_.rate.cuda,
    )
