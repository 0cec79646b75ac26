"""Evaluates an expression: in which precision, with which sums and powers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from optimetry.conformance.laws.readings import AS_NUMPY, CHOICES, COMPARISONS, DROPPED, KEPT
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS, Format, scalar_format
from optimetry.conformance.selftest.equivalents.expression import FMA, GETITEM, INPUT, LERP, SUM, WHERE, Node

Sum = Callable[[Array], Any]
Power = Callable[[Any, Any], Any]


def as_numpy(terms: Array) -> Any:
    """Sum in the order that NumPy chooses."""
    return np.sum(terms, initial=0.0)  # not every dtype has a default for no terms


@dataclass(frozen=True)
class EvaluationStyle:
    """How expressions are evaluated.

    Attributes:
        wide: whether arrays and numbers are held in the wide format while a step is computed.
        narrow_scalars: whether numbers are rounded to the arrays' precision before they meet, float32 at least.
        sum: how a 1-d array is summed.
        power: how a power with a whole exponent is computed.
        nan: what is made of a comparison with NaN: one of the ways in `optimetry.conformance.laws.readings`.
    """

    wide: bool = False
    narrow_scalars: bool = False
    sum: Sum = as_numpy
    power: Power = np.power
    nan: str = AS_NUMPY

    def value(self, node: Node, form: Format, inputs: Mapping[str, Any], known: dict[int, Any]) -> Any:
        """Evaluate an expression over arrays of one format; ``known`` caches shared operands."""
        if id(node) not in known:
            known[id(node)] = self._value(node, form, inputs, known)
        return known[id(node)]

    def _value(self, node: Node, form: Format, inputs: Mapping[str, Any], known: dict[int, Any]) -> Any:
        held = form.wide if self.wide else form.dtype
        if node.op is None:
            return self._leaf(node.args[0], form)
        if node.op == INPUT:
            return self._leaf(inputs[node.args[0]], form)
        args = [self.value(arg, form, inputs, known) for arg in node.args]
        if node.op == GETITEM:
            return args[0][int(args[1])]
        if not node.scalar:
            # A number is rounded to the dtype of the array that it is combined with.
            args = [arg if _is_mask(arg) else np.asarray(arg).astype(held) for arg in args]
        if node.op == SUM:
            return np.asarray(self.sum(args[0].reshape(-1))).astype(held)
        if node.op == WHERE:
            chosen = np.where(*args)
            return np.where(self._unordered(node.args[0], known), np.nan, chosen) if self.nan == KEPT else chosen
        if node.op == FMA:
            a, b, c = (arg.astype(form.wide) for arg in args)
            return (a * b + c).astype(held)
        if node.op == LERP:
            return _lerp(*args)
        if is_whole_power(node):
            return self.power(*args)
        assert isinstance(node.op, np.ufunc)
        return (CHOICES.get(node.op, node.op) if self.nan == DROPPED else node.op)(*args)

    def _unordered(self, mask: Node, known: Mapping[int, Any]) -> Any:
        """Return where a mask comes from a comparison with NaN."""
        if mask.op in COMPARISONS:
            return sum(np.isnan(known[id(arg)]) for arg in mask.args) > 0
        return sum((self._unordered(arg, known) for arg in mask.args if isinstance(arg, Node)), np.False_)

    def _leaf(self, value: Any, form: Format) -> Any:
        if isinstance(value, np.ndarray):
            return value if _is_mask(value) or not self.wide else value.astype(form.wide)
        if self.wide:
            return np.asarray(value).astype(form.wide)
        narrow = self.narrow_scalars and isinstance(value, float)
        return scalar_format(form).dtype.type(value) if narrow else value


def is_whole_power(node: Node) -> bool:
    """Whether a node is a power of a number with a whole exponent."""
    return node.op is np.power and node.scalar and node.args[1].op is None and isinstance(node.args[1].args[0], int)


def _is_mask(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype == bool


def _lerp(weight: Any, old: Any, new: Any) -> Any:
    unit = weight.dtype.type(1)
    return old + weight * (new - old) if weight < 0.5 else new - (new - old) * (unit - weight)


PLAIN = EvaluationStyle()
"""Every operation in the arrays' dtype, numbers in double precision, as in the reference."""


def in_order(terms: Array) -> Any:
    """Sum from the first term to the last."""
    return reduce(lambda a, b: a + b, terms, terms.dtype.type(0))


def in_reverse(terms: Array) -> Any:
    """Sum from the last term to the first."""
    return in_order(terms[::-1])


def in_blocks(terms: Array) -> Any:
    """Sum blocks of 16, then their sums."""
    blocks = [in_order(terms[start : start + 16]) for start in range(0, terms.size, 16)]
    return reduce(lambda a, b: a + b, blocks, terms.dtype.type(0))


def in_pairs(terms: Array) -> Any:
    """Sum pairwise, down to single terms."""
    if terms.size < 2:
        return in_order(terms)
    half = terms.size // 2
    return in_pairs(terms[:half]) + in_pairs(terms[half:])


def in_lanes(terms: Array) -> Any:
    """Form eight running sums, one for each lane of a vector, then their sum; the tail is added at the end."""
    whole = terms.size - terms.size % 8
    lanes = reduce(lambda a, b: a + b, terms[:whole].reshape(-1, 8), np.zeros(8, terms.dtype))
    return in_order(np.concatenate([lanes, terms[whole:]]))


def in_double(terms: Array) -> Any:
    """Sum in the wide format, and round once."""
    return np.sum(terms.astype(FORMATS[terms.dtype.name].wide), initial=0.0)


def repeated_product(base: Any, exponent: int) -> Any:
    """Form a power as the accumulator of a running optimizer: one product a step."""
    return reduce(lambda product, _: product * base, range(exponent - 1), base)


def repeated_squares(base: Any, exponent: int) -> Any:
    """Form a power by binary exponentiation."""
    if exponent == 1:
        return base
    half = repeated_squares(base, exponent // 2)
    return half * half * base if exponent % 2 else half * half
