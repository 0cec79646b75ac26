"""Kernels, buffers and saved states that are wrong for tensors of some sizes, with one option, or in a second run."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.cases.large import FEW_SIZES, MORE_SIZES, Scale
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import hooked, rounded, skipping_elements
from optimetry.conformance.selftest.faults.large import BLOCK, NormOfPart
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.faults.state import RunWithMemory
from optimetry.conformance.targets.numpy.target import RuleRun, run_of
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule

SIZES = (Scale(FEW_SIZES, tensors=len(FEW_SIZES), options=True),)
FURTHER_SIZES = (Scale(MORE_SIZES, tensors=len(MORE_SIZES), options=True),)
SPARSE_SIZES = (Scale(FEW_SIZES, tensors=len(FEW_SIZES), sparse=True),)
SPARSE_BIG = (Scale(((65_539,),), steps=2, sparse=True),)


def _tail(size: int) -> slice:
    """Return what a loop over eight elements at a time leaves over."""
    return slice(size - size % 8, size)


def _middle_tail(size: int) -> slice:
    return _tail(size) if 256 <= size < 4096 else slice(0)


def _matrices_without(skipped: Any) -> Start:
    """Runs that leave this part of every matrix as it was."""

    def parameter(before: Array, after: Array) -> Array:
        kept = after.copy()
        if after.ndim == 2:
            kept[skipped] = before[skipped]
        return kept

    return hooked(parameter=parameter)


def _with(option: str, start: Start) -> Start:
    """Runs with a defect where an option is on, and honest ones where it is off."""

    def begin(rule: Any, parameters: list[Array], memory: Memory) -> Any:
        return start(rule, parameters, memory) if getattr(rule, option) else run_of(rule, parameters)

    return begin


class _Pooled(RunWithMemory):
    """Takes buffers of at least 5000 elements out of a pool, as the run before has left them."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.training.states = [
            memory.get(param.shape, state) if param.size >= 5000 else state
            for param, state in zip(self.training.parameters, self.training.states, strict=True)
        ]

    def step(self, grads: Any, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        self.memory.update({x.shape: state for x, state in zip(after, self.training.states, strict=True)})
        return after


class _SavesLargeInHalf(RunWithMemory):
    """Saves the state of at least 4096 elements in float16."""

    def state(self) -> dict[str, list[Array]]:
        saved = super().state()
        return {
            slot: [rounded(array, np.float16) if array.size >= 4096 else array for array in arrays]
            for slot, arrays in saved.items()
        }


class _NormInFloat32(RuleRun):
    """Takes a step whose length has a norm in float32 in it, of more than 65,536 elements."""

    def step(self, grads: Any, learning_rate: float) -> list[Array]:
        before = [np.array(param) for param in self.training.parameters]
        after = super().step(grads, learning_rate)
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            if old.size > 65_536:
                norm = np.sqrt(np.sum(np.square(old)))
                after[i] = old + (new - old) * old.dtype.type(np.float32(norm) / norm if norm else 1.0)
                self.training.parameters[i] = working(after[i])
        return after


def _without_middle_tail(elements: Array) -> Array:
    kept = elements.copy()
    kept[_middle_tail(kept.size)] = 0
    return kept


enter(
    Fault(
        name="tail_between_256_and_4096_skipped",
        optimizer="adam",
        defect="the kernel for 256 to 4095 elements takes eight at a time, and leaves the remainder out",
        start=skipping_elements(_middle_tail),
        outcome="diverges: documented, but leaves out element 256 with a tensor of 257 elements",
        scales=SIZES,
        because="a tensor of 257 elements",
    ),
    Fault(
        name="last_block_of_1024_skipped",
        optimizer="adagrad",
        defect="the remainder of the length by 1024 is 0, and the last block has that many elements",
        start=skipping_elements(lambda size: slice(size - 1024 if size % 1024 == 0 else size, size), 1024),
        outcome="diverges: documented, but leaves out every element with a tensor of 1024 elements",
        scales=SIZES,
        because="a tensor of 1024 elements",
    ),
    Fault(
        name="rows_beyond_512_skipped",
        optimizer="rmsprop",
        defect="one tile of 512 rows is launched for a matrix",
        start=_matrices_without(np.s_[512:]),
        outcome="diverges: documented, but leaves out elements 1536 to 1538 with a tensor of 513x3 elements",
        scales=SIZES,
        because="a tensor of 513x3 elements",
    ),
    Fault(
        name="columns_beyond_512_skipped",
        optimizer="adamax",
        defect="a block has 512 threads, one for each column of a matrix",
        start=_matrices_without(np.s_[:, 512:]),
        outcome="diverges: documented, but leaves out element 512 with a tensor of 1x513 elements",
        scales=FURTHER_SIZES,
        because="a tensor of 1x513 elements",
    ),
    Fault(
        name="nesterov_tail_skipped",
        optimizer="momentum",
        defect="the kernel for Nesterov momentum leaves out what remains of more than 131 elements by eight",
        start=_with("use_nesterov", skipping_elements(_tail, 132)),
        outcome="diverges: documented, but leaves out elements 128 to 131 with a tensor of 132 elements",
        scales=SIZES,
        because="a tensor of 132 elements, the fewest found, with use_nesterov=True",
    ),
    Fault(
        name="large_buffers_not_cleared",
        optimizer="momentum",
        defect="velocities of at least 5000 elements come from a pool, as the run before has left them",
        start=_Pooled,
        scales=SIZES,
        because="a tensor of 5000 elements",
    ),
    Fault(
        name="norm_without_tail",
        optimizer="clip_by_norm",
        defect="the norm of 256 to 4095 elements is summed eight at a time, without the remainder",
        start=lambda clip, parameters, memory: NormOfPart(clip, _without_middle_tail),
        scales=SPARSE_SIZES,
        because="elements, the fewest found",
        dtypes=("float16", "float32"),
    ),
    Fault(
        name="norm_of_many_in_float32",
        optimizer="lamb",
        defect="the norm of a parameter of more than 65,536 elements is held in float32",
        start=run_as(_NormInFloat32),
        scales=SPARSE_BIG,
        because="a tensor of 65537 elements",
        dtypes=("float64",),
    ),
    Fault(
        name="large_state_saved_in_half_precision",
        optimizer="momentum",
        defect="a checkpoint holds arrays of at least 4096 elements in float16",
        start=_SavesLargeInHalf,
        scales=BLOCK,
        because="a tensor of 4096 elements, the fewest found, resumed from its state behind step 1",
    ),
)
