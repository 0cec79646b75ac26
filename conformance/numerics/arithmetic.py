"""Describes how a formula is computed, apart from which formula it is.

One such way forms moving averages as increments: ``m + (1-b)*(g - m)`` is ``b*m + (1-b)*g`` in exact arithmetic.
Where g is far below m and b is small, it keeps rounding errors of the size of the old m, which no slack for regrouped
arithmetic covers. So this is neither an axis nor a dialect, which are about formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import BOUND_ROUNDOFF, FORMATS, beside
from optimetry.reference.precision import working
from optimetry.reference.rule import Array

FLUSHES, INCREMENTAL, FLOAT32_NORM = "flushes_subnormals", "incremental_moments", "float32_norm"
IN_PARTS = "step_in_parts"
FLOAT32, PARTLY_FLOAT32, COMBINED = "float32", "float32_in_some_uses", "combined_in_float32"
COMPUTED, STEPS = "computed_in_{}", "steps_in_{}"

PARTS = 3
"""In how many parts a step may be subtracted; the documented formula does it at once."""

NORM, DECAY = "norm", "decay factor"
"""How a record calls the norm that a tensor is scaled by, and what a decay leaves of a parameter, ``1 - lr*wd``.

Both are numbers, though no hyperparameters.
"""


@dataclass(frozen=True)
class Arithmetic:
    """The ways in which honest code departs from operation after operation in the arrays' own precision.

    Attributes:
        flushes_subnormals: whether a subnormal operand or result may become zero.
        incremental_moments: whether moving averages are formed as increments, ``m + (1-b)*(g - m)``.
        step_in_parts: whether the terms of a step are subtracted from the parameter one after the other.
        float32: the real numbers that are held in float32 beside wider arrays, wherever they are used.
        float32_in_some_uses: those that lose precision in some uses alone, or by other roundings than one to float32.
        combined: whether those may also be combined in float32 before they meet an array: their products, quotients and
            roots are rounded there, in an order of the implementation's own.
        float32_norm: whether the norms that a tensor is scaled by, and the ratio of them, are held in float32 beside
            wider arrays.
        float32_decay: whether the factor by which a decay scales a parameter, ``1 - lr*wd``, is held in float32 beside
            wider arrays.
        computed_in: the narrower format that everything is computed in, arrays too; None where it is their own.
        parameters_apart: whether that is so of all but the parameters, which steps computed there are subtracted from.
    """

    flushes_subnormals: bool = False
    incremental_moments: bool = False
    step_in_parts: bool = False
    float32: tuple[str, ...] = ()
    float32_in_some_uses: tuple[str, ...] = ()
    combined: bool = False
    float32_norm: bool = False
    float32_decay: bool = False
    computed_in: str | None = None
    parameters_apart: bool = False

    @property
    def imprecise(self) -> bool:
        """Whether results are less precise than the dtype promises; flushed subnormals are not counted."""
        narrowed = self.computed_in or self.held_in_float32 or self.float32_in_some_uses
        return bool(self.incremental_moments or self.step_in_parts or narrowed)

    @property
    def held_in_float32(self) -> list[str]:
        """The numbers that are held in float32 wherever they are used, norms and decays among them."""
        return [*self.float32, *[NORM] * self.float32_norm, *[DECAY] * self.float32_decay]

    def __bool__(self) -> bool:
        return self.flushes_subnormals or self.imprecise

    def record(self) -> list[Any]:
        """Return the entries of a results file: names, or a name with the numbers that it is about."""
        partly = COMBINED if self.combined else PARTLY_FLOAT32
        return [
            *[FLUSHES] * self.flushes_subnormals,
            *[INCREMENTAL] * self.incremental_moments,
            *[IN_PARTS] * self.step_in_parts,
            *[(STEPS if self.parameters_apart else COMPUTED).format(self.computed_in)] * bool(self.computed_in),
            *[{FLOAT32: self.held_in_float32}] * bool(self.held_in_float32),
            *[{partly: list(self.float32_in_some_uses)}] * bool(self.float32_in_some_uses),
        ]


FOR_DIFFERENCE = 1 + 32 * BOUND_ROUNDOFF
"""Enlarges a bound before another is subtracted: more than both have lost by their own rounding."""

PLAIN = Arithmetic()
"""Operation by operation, each rounded to the arrays' dtype."""


def incremented(average: Any, gain: Any, new: Any) -> Any:
    """Return ``average + gain*(new - average)`` for a gain in [0, 1], with a bound that knows the average is met twice.

    What it is off by is scaled by ``1 - gain``; operation by operation it would be scaled by ``1 + gain``, and bounds
    would double in each step of a short memory. Of ``new + (1 - gain)*(average - new)``, which begins at the other
    end, products are rounded that are larger where the gain is below a half.
    """
    apart = new - average
    moved = average + gain * apart
    if not (isinstance(moved, Bounded) and isinstance(average, Bounded)):
        return moved
    share = np.clip(np.asarray(gain.value if isinstance(gain, Bounded) else gain, np.float64), 0.0, 1.0)
    larger = np.maximum(1 - 2 * share, 0.0) * (apart.magnitude + apart.bound)
    tighter = moved.bound * FOR_DIFFERENCE - 2 * share * average.bound + 2 * moved.form.roundoff * larger
    bound = np.where(np.isfinite(moved.bound), tighter, np.inf)
    return Bounded(moved.value, bound, moved.form, moved.nonnegative)


def moved_in_parts(before: Any, after: Any) -> Any:
    """Return a parameter after a step that was subtracted in parts: each further difference is rounded, too."""
    if not isinstance(after, Bounded):
        return after
    largest = np.maximum(before.magnitude + before.bound, after.magnitude + after.bound)
    rounding = (PARTS - 1) * largest * after.form.roundoff
    return Bounded(after.value, after.bound + rounding, after.form, after.nonnegative)


def decayed_in_float32(before: Any, after: Any) -> Any:
    """Return a parameter after a step that scaled it by a factor of about 1, which was rounded to float32."""
    if not isinstance(after, Bounded):
        return after
    rounding = (before.magnitude + before.bound) * FORMATS["float32"].roundoff
    return Bounded(after.value, after.bound + rounding, after.form, after.nonnegative)


def in_float32(number: Any) -> Any:
    """Round a number to float32 and back."""
    if isinstance(number, Bounded):
        rounding = np.abs(number.value) * FORMATS["float32"].roundoff
        return Bounded(number.value, number.bound + rounding, number.form, number.nonnegative)
    return working(np.asarray(number).astype(np.float32).astype(number.dtype))


def computed_in_float32(function: Callable[[Array], Any], x: Array) -> Any:
    """Compute a number from an array in float32, and return it in the array's own precision."""
    if isinstance(x, Bounded):
        result = function(x.held_in(beside(FORMATS["float32"], x.form)))
        return Bounded(result.value, result.bound, x.form, result.nonnegative)
    return working(np.asarray(function(working(x.astype(np.float32)))).astype(x.dtype))
