"""Selection by radix on a CUDA device: a block takes one unit, and nothing waits for the device.

Whether an entry is taken depends on how many of the same magnitude come before it, so a thread of a block takes
consecutive entries, and scans over the threads of a block, then over the units of a parameter, say where they go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.interface import Computer, address_of
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.plan import Units
from optimetry.accelerated.selection.selector import DIGIT, Keys, new_messages
from optimetry.reference.distributed.dgc_momentum import Message

COMMON = """
typedef long long i64;
typedef unsigned long long u64;
typedef {raw} raw;
constexpr int THREADS = {threads}, DIGIT = {digit}, BINS = 1 << DIGIT;

__device__ inline u64 key_of(raw bits) {{
    const u64 key = (u64)bits << {left};
    return key > {infinite}ull ? {infinite}ull : key;
}}

// The sum over the threads of a block before this one. Two counts are added at once, each in half of the bits.
__device__ inline u64 sum_before(u64 mine) {{
    __shared__ u64 lane[THREADS];
    lane[threadIdx.x] = mine;
    __syncthreads();
    for (int reach = 1; reach < THREADS; reach *= 2) {{
        const u64 other = threadIdx.x >= reach ? lane[threadIdx.x - reach] : 0;
        __syncthreads();
        lane[threadIdx.x] += other;
        __syncthreads();
    }}
    const u64 before = lane[threadIdx.x] - mine;
    __syncthreads();
    return before;
}}

__device__ inline u64 above_of(u64 both) {{ return both >> 32; }}
__device__ inline u64 level_of(u64 both) {{ return both & 0xffffffffull; }}

// How many of some entries are above a threshold, and how many at it.
__device__ inline u64 both_of(const raw* v, i64 begin, i64 end, u64 least) {{
    u64 both = 0;
    for (i64 i = begin; i < end; ++i) {{
        const u64 key = key_of(v[i]);
        both += key > least ? 1ull << 32 : key == least;
    }}
    return both;
}}
"""

COUNT = """
// Count by one digit the entries whose digits before it are the prefix of their parameter.
extern "C" __global__ void count(
    const raw* v, const i64* item, const i64* begin, const i64* end, const u64* prefix, i64 shift, unsigned* counts
) {
    __shared__ unsigned mine[BINS];
    for (int digit = threadIdx.x; digit < BINS; digit += THREADS) mine[digit] = 0;
    __syncthreads();
    const i64 k = item[blockIdx.x], past = end[blockIdx.x];
    const u64 wanted = prefix[k];
    for (i64 i = begin[blockIdx.x] + threadIdx.x; i < past; i += THREADS) {
        const u64 digits = key_of(v[i]) >> shift;
        if (digits >> DIGIT == wanted) atomicAdd(&mine[digits & (BINS - 1)], 1u);
    }
    __syncthreads();
    for (int digit = threadIdx.x; digit < BINS; digit += THREADS)
        if (mine[digit]) atomicAdd(&counts[k * BINS + digit], mine[digit]);
}
"""

CHOOSE = """
// The digit of the smallest key that is taken, and how many are wanted of those that have it; counts become 0.
extern "C" __global__ void choose(u64* prefix, i64* wanted, unsigned* counts) {
    const i64 k = blockIdx.x;
    unsigned* const mine = counts + k * BINS;
    if (threadIdx.x == 0) {
        int digit = BINS - 1;
        while (digit > 0 && wanted[k] > mine[digit]) wanted[k] -= mine[digit--];
        prefix[k] = prefix[k] << DIGIT | digit;
    }
    __syncthreads();
    for (int digit = threadIdx.x; digit < BINS; digit += THREADS) mine[digit] = 0;
}
"""

MARK = """
// Count the entries of each unit above the threshold, and those at it.
extern "C" __global__ void mark(
    const raw* v, const i64* item, const i64* begin, const i64* end, const u64* prefix, i64 shift, u64* tallies
) {
    const i64 length = end[blockIdx.x] - begin[blockIdx.x], each = (length + THREADS - 1) / THREADS;
    const i64 low = each * threadIdx.x, high = low + each;
    const u64 least = prefix[item[blockIdx.x]] << shift;
    const raw* const here = v + begin[blockIdx.x];
    const u64 mine = both_of(here, low, high < length ? high : length, least), before = sum_before(mine);
    if (threadIdx.x == THREADS - 1) tallies[blockIdx.x] = before + mine;
}
"""

PLACE = """
// Replace the counts of each unit by the sums over the units before it in the same parameter.
extern "C" __global__ void place(const i64* first, u64* tallies) {
    const i64 k = blockIdx.x, length = first[k + 1] - first[k], each = (length + THREADS - 1) / THREADS;
    const i64 low = first[k] + each * threadIdx.x, past = low + each < first[k + 1] ? low + each : first[k + 1];
    u64 mine = 0;
    for (i64 unit = low; unit < past; ++unit) mine += tallies[unit];
    u64 before = sum_before(mine);
    for (i64 unit = low; unit < past; ++unit) {
        const u64 own = tallies[unit];
        tallies[unit] = before;
        before += own;
    }
}
"""

TAKE = """
// Write out what is taken, and leave zeros.
extern "C" __global__ void take(
    raw* u, raw* v, const i64* item, const i64* begin, const i64* end, const u64* prefix, i64 shift,
    const i64* start, const i64* wanted, const i64* offset, const u64* tallies, int* indices, raw* values
) {
    const i64 k = item[blockIdx.x], first = begin[blockIdx.x], length = end[blockIdx.x] - first;
    const i64 each = (length + THREADS - 1) / THREADS, low = first + each * threadIdx.x;
    const i64 past = low + each < first + length ? low + each : first + length;
    const u64 least = prefix[k] << shift, room = wanted[k];
    const u64 before = tallies[blockIdx.x] + sum_before(both_of(v, low, past, least));
    u64 level = level_of(before), position = offset[k] + above_of(before) + (level < room ? level : room);
    for (i64 i = low; i < past; ++i) {
        const u64 key = key_of(v[i]);
        if (key < least) continue;
        if (key == least && level++ >= room) continue;
        indices[position] = (int)(i - first + start[blockIdx.x]);
        values[position++] = v[i];
        u[i] = v[i] = 0;
    }
}
"""

KERNELS = {"count": COUNT, "choose": CHOOSE, "mark": MARK, "place": PLACE, "take": TAKE}
RAW = {"uint32": "unsigned", "uint64": "u64"}


def text(kernel: str, keys: Keys, threads: int) -> str:
    """Write the program of one of `KERNELS`."""
    raw = RAW[keys.raw.name]
    return (
        COMMON.format(raw=raw, threads=threads, digit=DIGIT, left=keys.left, infinite=keys.infinite) + KERNELS[kernel]
    )


class CudaSelector:
    """See `Engine.selector`."""

    def __init__(self, u: Column, v: Column, sizes: Array, device: Computer) -> None:
        self.device, self.u, self.v, self.dtype = device, u, v, v.block.dtype
        self.keys = Keys.of(self.dtype)
        self.launch = {
            name: device.compiled(text(name, self.keys, device.threads), name, fmad=False) for name in KERNELS
        }
        units = Units.of(sizes)
        begin = v.first[units.item] + units.start
        self.units = np.stack([units.item, begin, begin + units.count, units.start])
        self.first = np.searchsorted(units.item, np.arange(len(sizes) + 1))

    def ready(self, numbers: Sequence[int]) -> tuple[list[Message], Callable[[], None]]:
        """Prepare; besides the messages it needs a kilobyte for each parameter.

        Tables are copied for each step, since those that another stream has copied may not be there yet.
        """
        new, put = self.device.zeros, self.device.given
        indices, values, messages = new_messages(numbers, self.dtype, new)
        item, begin, end, start = put(self.units)
        first, wanted, offset = put(self.first), put(np.array(numbers)), put(np.cumsum([0, *numbers[:-1]]))
        prefix, counts = new(len(numbers), np.uint64), new(len(numbers) << DIGIT, np.uint32)
        items, units = len(numbers), self.units.shape[1]
        tallies = new(units, np.uint64)

        def run() -> None:
            """Find the thresholds, digit by digit, then take."""
            u, v, shifts = self.u.block, self.v.block, self.keys.shifts
            if not units:
                return
            for shift in shifts:
                self._launch("count", units, v, item, begin, end, prefix, shift, counts)
                self._launch("choose", items, prefix, wanted, counts)
            self._launch("mark", units, v, item, begin, end, prefix, shifts[-1], tallies)
            self._launch("place", items, first, tallies)
            places = (start, wanted, offset, tallies, indices, values)
            self._launch("take", units, u, v, item, begin, end, prefix, shifts[-1], *places)

        return messages, run

    def _launch(self, name: str, blocks: int, *arguments: Array | int) -> None:
        self.launch[name](blocks, [value if isinstance(value, int) else address_of(value) for value in arguments])
