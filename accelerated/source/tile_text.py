"""Writes the loop around a scalar function over tiles of matrices, for passes that read or measure rows and columns.

A tile is some rows and some columns of one matrix; it is one unit of work. Its loop is that of `loop_text`, inside one
over rows::

    for unit in ...:
        k, top, rows, left, width, stride, ... = units[0, unit], units[1, unit], ...
        for y in range(rows):
            start, n = (top + y) * stride + left, width
            row = array_at(table[2, k], top + y, 1, compute)[0]
            param_array = array_at(table[0, k], start, n, compute)
            column_array = array_at(table[3, k], start - (top + y) * stride, n, compute)
            for i in range(n):
                param_array[i], = function(param_array[i], grad_array[i], row, column_array[i], ...)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, ROW, Pass
from optimetry.accelerated.source.loop_text import around_units, constants_of, dtypes_of, in_runs, inner, sizes_of
from optimetry.accelerated.source.machine_code import array_at

RUN, AHEAD = 128, 2048
"""The elements of a run and how far ahead it prefetches: twice as many as in `loop_text`, since a pass over tiles moves
fewer bytes for each."""

ACROSS, DOWN = "across", "down"
"""Where the sums of rows and of columns of a tile go, in double precision: the last two arrays of a crossed pass."""

UNIT = ("k", "top", "rows", "left", "width", "stride", "r", "across_at", "down_at")
"""The numbers of a tile: its matrix, its first row and how many, its first column and how many, how many columns the
matrix has, its row of scalars, and where its sums go."""


def tiled_text(pass_: Pass, dtypes: DtypePair, master: bool) -> str:
    """Write the source text of the loop over tiles."""
    return _text(pass_, dtypes, master, crossed=False)


def crossed_text(pass_: Pass, dtypes: DtypePair, master: bool) -> str:
    """Write the same for a pass whose last sum is also one of each row and of each column."""
    return _text(pass_, dtypes, master, crossed=True)


def _text(pass_: Pass, dtypes: DtypePair, master: bool, *, crossed: bool) -> str:
    names, dtype = pass_.arrays(master=master), dtypes_of(pass_, dtypes, master)
    element = {name: f"{name}_array[i]" for name in names} | {ROW: ROW}
    sums = [f"sum{j}" for j in range(pass_.sums)]
    place = {name: j for j, name in enumerate((*names, ACROSS, DOWN))}
    outer = [
        *(f"{name} = units[{j}, unit]" for j, name in enumerate(UNIT)),
        *constants_of(pass_),
        *(f"{total} = 0.0" for total in sums),
    ]
    if crossed:
        outer += [
            f"{ACROSS} = array_at(table[{place[ACROSS]}, k], across_at, rows, wide)",
            f"{DOWN} = array_at(table[{place[DOWN]}, k], down_at, width, wide)",
            f"{DOWN}[:] = 0.0",
        ]
    outer += ["for y in range(rows):"]
    starts = {name: "start - (top + y) * stride" if name == COLUMN else "start" for name in names if name != ROW}
    loop = [
        f"{name}_array = array_at(table[{place[name]}, k], {start}, n, {dtype[name]})" for name, start in starts.items()
    ]
    element_lines = inner(pass_, element, dtypes, master)
    per_row = ["start, n = (top + y) * stride + left, width"]
    per_row += [f"{ROW} = array_at(table[{place[ROW]}, k], top + y, 1, compute)[0]"] if ROW in names else []
    if crossed:
        last = f"new_{sums[-1]}"
        per_row += [f"before = {sums[-1]}", f"{sums[-1]} = 0.0"]
        element_lines += [f"{DOWN}[i] += wide({last}) * wide({last})"]
    loop += ["for i in range(n):", *(f"    {line}" for line in element_lines)]
    if dtypes.narrow and not sums:
        sizes = {place[name]: sizes_of(dtypes)[dtype[name]] for name in names if name not in (ROW, COLUMN)}
        loop = in_runs(loop, sizes, "rows * width * size", RUN, AHEAD)
    per_row += loop
    if crossed:
        per_row += [f"{ACROSS}[y] = {sums[-1]}", f"{sums[-1]} += before"]
    outer += [f"    {line}" for line in per_row]
    return around_units([*outer, *(f"partial[unit, {j}] = {total}" for j, total in enumerate(sums))])


def signature(compute: Any) -> Any:
    """Return the types of `renew` for a dtype of arithmetic."""
    table, numbers = types.Array(types.int64, 2, "C"), types.Array(types.float64, 1, "C")
    return types.void(
        table,
        types.Array(types.uint64, 2, "C"),
        numbers,
        types.float64,
        numbers,
        numbers,
        types.DType(compute),
    )


def renew(matrices: Any, addresses: Any, share: Any, least: Any, across: Any, down: Any, dtype: Any) -> None:
    """Renew the averages of rows and columns of every matrix from the sums of its tiles; see `Factors`.

    Args:
        matrices: for each its rows, columns, tiles over another and beside another, where its sums of rows and columns
            begin, and whether it is a tensor of fewer than two dimensions, int64.
        addresses: for each those of the averages of rows and of columns, and of what passes read as `ROW` and as
            `COLUMN`, uint64.
        share: for each the share of an average that is kept.
        least: the least divisor of the averages of rows.
        across: the sums of rows of each tile; those of the first become those of all.
        down: those of columns, likewise.
        dtype: of averages.
    """
    for k in range(matrices.shape[0]):
        rows, columns, high, wide, across_at, down_at, flat = matrices[k]
        row, column = array_at(addresses[2, k], 0, rows, dtype), array_at(addresses[3, k], 0, columns, dtype)
        kept, total, average = share[k], 0.0, array_at(addresses[1, k], 0, columns, dtype)
        for tile in range(1, high):
            for j in range(columns):
                down[down_at + j] += down[down_at + tile * columns + j]
        for j in range(columns):
            average[j] = kept * average[j] + (1 - kept) * (down[down_at + j] / rows)
            column[j] = 1 / np.sqrt(np.float64(average[j]))
        if flat:
            row[:] = 1
            continue
        average = array_at(addresses[0, k], 0, rows, dtype)
        for tile in range(1, wide):
            for j in range(rows):
                across[across_at + j] += across[across_at + tile * rows + j]
        for j in range(rows):
            average[j] = kept * average[j] + (1 - kept) * (across[across_at + j] / columns)
            total += average[j]
        below = max(total / rows, least)
        for j in range(rows):
            row[j] = 1 / np.sqrt(average[j] / below)
