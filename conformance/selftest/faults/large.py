"""Kernels that are right on small tensors, few tensors and short runs, and wrong on large ones."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from optimetry.conformance.cases.large import MIXED, SHORT, Scale
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.selftest.faults.hooks import hooked, rounded, skipping_elements, skipping_tensors
from optimetry.conformance.subjects.wrappers.clips import ClipByNorm

SPARSE_BLOCK = (Scale(((4099,),), sparse=True),)
SPARSE_HUGE = (Scale(((1_000_003,),), steps=2, sparse=True),)
BLOCK = (Scale(((4099,),)),)
WHOLE_BLOCKS = (Scale(((4096,),), drawn=True),)
BIG = (Scale(((65_537,),)),)
HUGE = (Scale(((1_000_003,),), steps=2, drawn=True),)
MATRIX = (Scale(((257, 129),), drawn=True),)
CUBE = (Scale(((33, 65, 31),)),)
MANY = (Scale(MIXED, tensors=70, drawn=True),)
MOST = (Scale(MIXED, tensors=1000, steps=2),)
LONG = (Scale(SHORT, steps=300),)
LONGEST = (Scale(SHORT, steps=2500),)


def _twice_at(least: int, place: Callable[[int], int]) -> Start:
    """Runs that take the step of one element twice in parameters of at least so many."""

    def parameter(before: Array, after: Array) -> Array:
        kept = after.copy()
        if after.size >= least:
            i = place(after.size)
            kept.flat[i] = after.flat[i] + (after.flat[i] - before.flat[i])
        return kept

    return hooked(parameter=parameter)


def _without_last_row(before: Array, after: Array) -> Array:
    kept = after.copy()
    if after.ndim == 2 and len(after) > 256:
        kept[-1] = before[-1]
    return kept


def _without_last_plane(before: Array, after: Array) -> Array:
    kept = after.copy()
    if after.ndim == 3 and after.shape[1] > 64:
        kept[:, 64:] = before[:, 64:]
    return kept


def _in_int8(slot: Array) -> Array:
    if slot.size < 4096:
        return slot
    finite = np.where(np.isfinite(slot), slot, 0)
    scale = np.max(np.abs(finite)) / 127 or 1.0
    held = (np.round(finite / scale).astype(np.int8) * scale).astype(slot.dtype)
    return np.where(np.isfinite(slot), held, slot)


class NormOfPart:
    """Clips by the norm of a part of the elements."""

    def __init__(self, clip: ClipByNorm, part: Callable[[Array], Array]) -> None:
        self.clip, self.part = clip, part

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the clipped gradients."""
        return [self._clipped(grad) for grad in grads]

    def _clipped(self, grad: Array) -> Array:
        with np.errstate(all="ignore"):
            norm = np.sqrt(np.sum(np.square(self.part(grad.reshape(-1))), initial=0.0))
            factor = self.clip.clip_norm / np.maximum(norm, self.clip.clip_norm)
            clipped: Array = np.asarray(grad * factor, grad.dtype)
        return clipped


def _norm_of_first(count: int) -> Start:
    return lambda clip, parameters, memory: NormOfPart(clip, lambda elements: elements[:count])


enter(
    Fault(
        name="tail_beyond_1024_skipped",
        optimizer="adam",
        defect="blocks of 1024 without the remainder; tensors of up to 1024 elements go another way",
        start=skipping_elements(lambda size: slice(size - size % 1024, size), 1025),
        outcome="diverges: documented, but leaves out element 1024 with a tensor of 1025 elements",
        scales=BLOCK,
        because="a tensor of 1025 elements",
    ),
    Fault(
        name="elements_beyond_4096_skipped",
        optimizer="sgd",
        defect="one block of 4096 elements is launched, whatever the length",
        start=skipping_elements(lambda size: slice(4096, size), 4097),
        outcome="diverges: documented, but leaves out element 4096 with a tensor of 4097 elements",
        scales=BLOCK,
        because="a tensor of 4097 elements",
    ),
    Fault(
        name="last_full_block_skipped",
        optimizer="momentum",
        defect="the remainder of the length by 4096 is 0, and the last block has that many elements",
        start=skipping_elements(lambda size: slice(size - 4096 if size % 4096 == 0 else size, size), 4096),
        outcome="diverges: documented, but leaves out every element with a tensor of 4096 elements",
        scales=WHOLE_BLOCKS,
        because="a tensor of 4096 elements",
    ),
    Fault(
        name="last_block_skipped",
        optimizer="adadelta",
        defect="the last block of 65536 is not launched in tensors of at least 70000 elements",
        start=skipping_elements(lambda size: slice(size - size % 65536, size), 70_000),
        outcome="diverges: documented, but leaves out elements 65536 to 69999 with a tensor of 70000 elements",
        scales=HUGE,
        because="a tensor of 70000 elements",
    ),
    Fault(
        name="seam_skipped",
        optimizer="momentum",
        defect="two threads from 65536 elements on, and none has the element between them",
        start=skipping_elements(lambda size: size // 2, 65536),
        outcome="diverges: documented, but leaves out element 32768 with a tensor of 65536 elements",
        scales=BIG,
        because="a tensor of 65536 elements",
    ),
    Fault(
        name="seam_updated_twice",
        optimizer="adamax",
        defect="four threads from 65536 elements on, the first two of which overlap by one element",
        start=_twice_at(65536, lambda size: size // 4),
        scales=BIG,
        because="a tensor of 65536 elements",
    ),
    Fault(
        name="lone_element_skipped",
        optimizer="decayed_adagrad",
        defect="one element at no seam is lost: only a look at every element finds it",
        start=skipping_elements(lambda size: 43_210, 50_000),
        outcome="diverges: documented, but leaves out element 43210 with a tensor of 50000 elements",
        scales=BIG,
        because="a tensor of 50000 elements",
    ),
    Fault(
        name="index_in_int16",
        optimizer="rmsprop",
        defect="the index of an element is held in int16: negative from 32768 on, and out of range",
        start=skipping_elements(lambda size: slice(32768, size), 32769),
        outcome="diverges: documented, but leaves out element 32768 with a tensor of 32769 elements",
        scales=MATRIX,
        because="a tensor of 32769 elements",
    ),
    Fault(
        name="index_in_uint16",
        optimizer="adagrad",
        defect="the index of an element is held in uint16: from 65536 on the first elements are updated again",
        start=_twice_at(65537, lambda size: 0),
        scales=BIG,
        because="a tensor of 65537 elements",
    ),
    Fault(
        name="rows_beyond_256_skipped",
        optimizer="ftrl",
        defect="the last row of a matrix of more than 256 is not updated",
        start=hooked(parameter=_without_last_row),
        outcome="diverges: documented, but leaves out elements 33024 to 33152 with a tensor of 257x129 elements",
        scales=MATRIX,
        because="a tensor of 257x129 elements",
    ),
    Fault(
        name="planes_beyond_64_skipped",
        optimizer="asgd",
        defect="the second dimension of three is tiled by 64, once",
        start=hooked(parameter=_without_last_plane),
        outcome="diverges: documented, but leaves out elements 1984 to 2014 with a tensor of 1x65x31 elements",
        scales=CUBE,
        because="a tensor of 1x65x31 elements",
    ),
    Fault(
        name="large_state_in_bfloat16",
        optimizer="adam",
        defect="moments of at least 4096 elements are held in bfloat16",
        start=hooked(slot=lambda slot: slot if slot.size < 4096 else rounded(slot, ml_dtypes.bfloat16)),
        outcome="diverges: documented, but keeps moment1 and moment2 in bfloat16 with a tensor of 4096 elements",
        scales=BLOCK,
        because="a tensor of 4096 elements",
    ),
    Fault(
        name="large_state_in_int8",
        optimizer="momentum",
        defect="a velocity of at least 4096 elements is held in eight bits, as bitsandbytes does",
        start=hooked(slot=_in_int8),
        scales=BLOCK,
        because="a tensor of 4096 elements",
    ),
    Fault(
        name="norm_of_one_block",
        optimizer="clip_by_norm",
        defect="the sums of further blocks of 4096 never reach the norm",
        start=_norm_of_first(4096),
        scales=SPARSE_BLOCK,
        because="a tensor of 4097 elements, the fewest found",
        dtypes=("float16", "float32"),
    ),
    Fault(
        name="norm_of_one_launch",
        optimizer="clip_by_norm",
        defect="1,024 blocks of 256 elements are launched for the norm, however many there are",
        start=_norm_of_first(2**18),
        scales=SPARSE_HUGE,
        because="a tensor of 262145 elements, the fewest found",
    ),
    Fault(
        name="count_in_bfloat16",
        optimizer="adam",
        defect="the number of steps is held in bfloat16, which stays at 256",
        start=hooked(count=lambda count: min(count, 256)),
        scales=LONG,
        because="but not after 26",
    ),
    Fault(
        name="count_in_uint8",
        optimizer="adam",
        defect="the number of steps is held in eight bits, and begins again behind 255",
        start=hooked(count=lambda count: (count - 1) % 255 + 1),
        scales=LONG,
        because="but not after 255 steps",
    ),
    Fault(
        name="count_in_float16",
        optimizer="adam",
        defect="the number of steps is held in float16, which stays at 2048",
        start=hooked(count=lambda count: min(count, 2048)),
        scales=LONGEST,
        because="but not after 21",
    ),
    Fault(
        name="correction_frozen",
        optimizer="adam",
        defect="bias corrections come from a table of 1000 steps, whose last entry is used ever after",
        start=hooked(count=lambda count: min(count, 1000)),
        scales=LONGEST,
        because="but not after",
    ),
    Fault(
        name="rate_frozen",
        optimizer="sgd",
        defect="the learning rate is read in the first 1000 steps alone",
        start=hooked(rate=lambda rates: rates[min(len(rates), 1000) - 1]),
        scales=LONGEST,
        because="but not after 1250 steps",
    ),
    Fault(
        name="tensor_beyond_64_dropped",
        optimizer="adagrad",
        defect="one launch takes 64 tensors, and the next begins one too late",
        start=skipping_tensors(lambda i, count: i == 64),
        outcome="diverges: documented, but leaves out tensor 64 with 65 tensors",
        scales=MANY,
        because="65 tensors",
    ),
    Fault(
        name="last_of_many_dropped",
        optimizer="sgd",
        defect="of more than 320 tensors the last is not updated",
        start=skipping_tensors(lambda i, count: i == count - 1 >= 320),
        outcome="diverges: documented, but leaves out tensor 320 with 321 tensors",
        scales=MOST,
        because="321 tensors",
    ),
)
