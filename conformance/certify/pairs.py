"""Lays out the pairs of parameters and gradients that are compared, in blocks of about a million.

The bits of a block's parameters, and of its gradients, are evenly spaced: every block has all signs and exponents, so
that a few of them are a fair sample.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.strategies import TensorPlan, seeded_plan
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reports.certificate import Step

DTYPES = ("bfloat16", "float16", "float32")
"""What can be certified: dtypes with few enough numbers to try all as gradients."""

FIRST: Step = "first"
LATER: Step = "later"

STEPS: tuple[Step, Step] = (FIRST, LATER)

EARLIER = (1, 2, 4, 9)
"""How many steps lead to the states of a block, in turn: a later step is the second, third, fifth or tenth."""

LAYOUTS: dict[tuple[int, Step], tuple[int, int, int]] = {
    (16, FIRST): (1024, 1024, 4096),
    (16, LATER): (16, 65_536, 16),
    (32, FIRST): (1, 2**20, 4096),
    (32, LATER): (1, 2**20, 4096),
}
"""By the bits of a number and the step: the parameters and gradients of a block, and how many blocks there are."""

MOST = max(blocks for *_, blocks in LAYOUTS.values())
"""The most blocks of a layout."""


@dataclass(frozen=True)
class Block:
    """Some parameters, and some gradients that each of them gets.

    Attributes:
        parameters: in a column.
        earlier: the gradients of the steps before, likewise.
        gradients: those of the last step, in a row.
    """

    parameters: Array
    earlier: tuple[Array, ...]
    gradients: Array

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return int(self.parameters.size * self.gradients.size)

    def part(self, rows: slice, columns: slice) -> Block:
        """Return some of the parameters with some of the gradients."""
        return Block(self.parameters[rows], tuple(x[rows] for x in self.earlier), self.gradients[:, columns])

    def at(self, rows: Any, columns: Any) -> Block:
        """Return single pairs, all arrays in rows."""
        return Block(self.parameters[rows, 0], tuple(x[rows, 0] for x in self.earlier), self.gradients[0, columns])


@dataclass(frozen=True)
class Pairs:
    """All pairs of one rule in one dtype, in the first step or in a later one.

    In a first step of 16 bits, all parameters with all gradients; else all gradients with drawn parameters and states.

    Attributes:
        optimizer: the rule's name.
        dtype: the dtype's name.
        step: which step.
        seed: what parameters and states are drawn from.
    """

    optimizer: str
    dtype: str
    step: Step
    seed: int

    @property
    def bits(self) -> int:
        """The bits of a number."""
        return 8 * FORMATS[self.dtype].dtype.itemsize

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return LAYOUTS[self.bits, self.step][2]

    @property
    def block_size(self) -> int:
        """How many pairs a block has."""
        rows, columns, _ = LAYOUTS[self.bits, self.step]
        return rows * columns

    @property
    def space(self) -> int:
        """How many pairs there are."""
        return self.blocks * self.block_size

    @property
    def all_parameters(self) -> bool:
        """Whether the parameters are all that there are, not drawn."""
        return self.space == 1 << 2 * self.bits

    def share(self, count: int | None) -> list[int]:
        """Draw the numbers of so many blocks, in order; of all where no count is given."""
        if count is None or count >= self.blocks:
            return list(range(self.blocks))
        return sorted(random.Random(f"{self.optimizer} {self.step} {self.seed}").sample(range(self.blocks), count))

    def block(self, number: int, hyper: dict[str, Any]) -> Block:
        """Return a block, the same each time.

        Args:
            number: its number.
            hyper: the hyperparameters, near one of which some gradients are drawn.
        """
        rows, columns, _ = LAYOUTS[self.bits, self.step]
        strides = 2**self.bits // columns
        gradients = self._spaced(number % strides, columns)[np.newaxis]
        if self.all_parameters:
            return Block(self._spaced(number // strides, rows)[:, np.newaxis], (), gradients)
        parameters, earlier = self._drawn(number, rows, hyper)
        return Block(parameters, earlier, gradients)

    def _spaced(self, start: int, count: int) -> Array:
        """Return numbers whose bits are evenly spaced."""
        bits = start + np.arange(count, dtype=np.uint64) * np.uint64(2**self.bits // count)
        return bits.astype(f"u{self.bits // 8}").view(FORMATS[self.dtype].dtype)

    def _drawn(self, number: int, rows: int, hyper: dict[str, Any]) -> tuple[Array, tuple[Array, ...]]:
        """Draw parameters, and gradients of earlier steps, as for a case of `optimetry check`."""
        drawn = seeded_plan(subject_named(self.optimizer), self.dtype, f"{self.seed} {self.step} {number}")
        pattern = drawn.tensors[0].pattern
        case = dataclasses.replace(
            drawn,
            hyper=hyper,
            tensors=(TensorPlan((rows, 1), "mixed", pattern, untouched=False, missing=None),),
            steps=EARLIER[number % len(EARLIER)] + 1,
        ).case()
        earlier = tuple(grad for (grad,) in case.grads[:-1] if grad is not None) if self.step == LATER else ()
        return case.parameters[0], earlier
