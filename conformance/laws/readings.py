"""Evaluates the documented formula on infinities and NaN in every way that its document leaves open.

A document gives a formula over the reals. It does not say whether ``0 * x`` is left out where a hyperparameter is 0,
what a comparison with NaN chooses, or in which precision a step is computed. An infinity or a NaN shows all of that, so
a target is held only to what every reading gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.declaration import Declared
from optimetry.reference.precision import Working

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)

CHOICES: Mapping[np.ufunc, np.ufunc] = {np.maximum: np.fmax, np.minimum: np.fmin}
"""Functions that return NaN where either operand is NaN, with those that return the other operand."""

AS_NUMPY, KEPT, DROPPED = "as NumPy", "kept", "dropped"
"""A comparison with NaN is false, or the choice that it makes gives NaN, or a maximum is the other operand; a sign made
of comparisons is then 0."""


class Reading(Working):
    """An array that is evaluated in one reading: `READINGS` are its subclasses.

    Class attributes:
        skips_zeros: whether a product with a number that is 0 is 0.
        nan: what is made of a comparison with NaN.
    """

    skips_zeros: ClassVar[bool]
    nan: ClassVar[str]
    unordered: Any = None  # of a mask: where NaN was compared

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.multiply and self.skips_zeros and any(_is_zero(operand) for operand in inputs):
            return np.zeros_like(self)
        if self.nan == DROPPED:
            ufunc = CHOICES.get(ufunc, ufunc)
        result = self._read(super().__array_ufunc__(ufunc, method, *inputs, **kwargs))
        if ufunc is np.sign and self.nan == DROPPED:
            result[np.isnan(result)] = 0  # formed as `(x > 0) - (x < 0)`
        if ufunc in COMPARISONS:
            result = self._read(np.asarray(result))  # of two norms it is a plain bool
            result.unordered = sum(np.isnan(np.asarray(operand)) for operand in inputs) > 0
        return result

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func is not np.where:
            return self._read(super().__array_function__(func, types, args, kwargs))
        mask, *operands = args
        chosen = self._read(super().__array_function__(func, types, (np.asarray(mask), *operands), kwargs))
        if self.nan == KEPT and getattr(mask, "unordered", None) is not None:
            chosen[mask.unordered] = np.nan
        return chosen

    def _read(self, result: Any) -> Any:
        return result.view(type(self)) if isinstance(result, np.ndarray) else result


def _is_zero(operand: Any) -> bool:
    return isinstance(operand, float | int) and operand == 0


READINGS = tuple(
    type("Reading", (Reading,), {"skips_zeros": skips_zeros, "nan": nan})
    for skips_zeros, nan in product((False, True), (AS_NUMPY, KEPT, DROPPED))
)


class _Numbers(NamedTuple):
    """Arrays in one reading and one dtype."""

    reading: type[Reading]
    dtype: np.dtype[Any]

    def array(self, array: Any) -> Any:
        """Return an input to be read."""
        return np.asarray(array).astype(self.dtype).view(self.reading)

    def scalar(self, name: str, number: float) -> float:
        """Return a hyperparameter as it is."""
        return number


@lru_cache(maxsize=1024)
def kinds_of(computed: Declared, case: Case, step: int, element: int) -> frozenset[str]:
    """Return the kinds of number that the readings of a formula give for one element after one step.

    Args:
        computed: a rule or a wrapper, with the hyperparameters of the case.
        case: a case of one parameter that always has a gradient.
        step: counted from 0.
        element: of the flat parameter.
    """
    if computed.elementwise:  # norms need all elements
        case, element = case.each(lambda array: array.reshape(-1)[element : element + 1]), 0
    kinds = set()
    for kind, dtype in product(READINGS, {case.form.dtype, np.dtype(np.float64)}):
        with np.errstate(all="ignore"):
            steps = subject_of(case).trajectory(case, _Numbers(kind, dtype), computed)
            *_, (after,) = islice(steps, step + 1)
        kinds.add(kind_of(after.reshape(-1)[element]))
    if kinds & {"inf", "-inf"}:
        kinds.add("nan")  # in another order of operations: an average formed as g + b*(m - g) meets inf - inf
    return frozenset(kinds)


def kind_of(number: Any) -> str:
    """Return ``finite``, ``nan``, ``inf`` or ``-inf``."""
    return "finite" if np.isfinite(number) else str(float(number))
