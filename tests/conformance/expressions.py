"""Random expressions, and the many ways in which an honest implementation may evaluate one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, Format, scalar_format
from optimetry.reference.precision import working
from tests.conformance import rationals
from tests.conformance.rationals import Direction, Number, elementwise, rounded

UNARY = ("sqrt", "square", "absolute", "negative", "sign", "sum", "complement")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power")
CHOICES = ("choose greater", "choose less_equal", "guard")
COMPARISONS = {"choose greater": operator.gt, "choose less_equal": operator.le}
ROUNDED = {"add", "subtract", "multiply", "divide", "sqrt", "square", "power", "sum", "complement"}


@dataclass(frozen=True, eq=False)
class Expression:
    """An operation on expressions; a subexpression that occurs twice is evaluated once.

    ``complement`` is 1 - x, ``choose greater`` is ``where(a > b, c, d)``, and ``guard`` is
    ``where((a > 0) & (b > 0), c, 1)``, as the rules with norms have it.

    Attributes:
        op: one of the names above; for leaves ``array``, ``scalar`` or ``number`` (which is lifted only when it meets
            an array or a scalar).
        args: the operands.
        leaf: which array, or the scalar or number itself.
    """

    op: str
    args: tuple[Expression, ...] = ()
    leaf: Any = None

    @property
    def is_scalar(self) -> bool:
        """Whether no array has part in it, so that it is held in the scalar format."""
        return all(arg.is_scalar for arg in self.args) if self.args else self.op != "array"

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})" if self.args else f"{self.leaf}"


def nodes(root: Expression) -> Iterator[Expression]:
    """Every operation of an expression, operands first, shared ones as often as they are used."""
    for arg in root.args:
        yield from nodes(arg)
    yield root


Apply = Callable[[Expression, list[Any]], Any]


def evaluate(root: Expression, apply: Apply) -> dict[Expression, Any]:
    """The value of every node, where ``apply`` gives that of one node from those of its operands."""
    values: dict[Expression, Any] = {}
    for node in nodes(root):
        if node not in values:
            values[node] = apply(node, [values[arg] for arg in node.args])
    return values


def with_numpy(arrays: dict[str, Any], lift_array: Callable[[Any], Any], lift_scalar: Callable[[float], Any]) -> Apply:
    """Evaluation by NumPy functions, on any kind of array that they dispatch on."""

    def apply(node: Expression, x: list[Any]) -> Any:
        match node.op:
            case "array":
                return lift_array(arrays[node.leaf])
            case "scalar":
                return lift_scalar(node.leaf)
            case "number":
                return node.leaf
            case "complement":
                return 1 - x[0]
            case "sum":
                return np.sum(x[0], initial=0.0)
            case "guard":
                return np.where((x[0] > 0) & (x[1] > 0), x[2], 1.0)
            case "choose greater" | "choose less_equal":
                return np.where(COMPARISONS[node.op](x[0], x[1]), x[2], x[3])
            case _:
                return getattr(np, node.op)(*x)

    return apply


def with_bounds(arrays: dict[str, Any], form: Format) -> Apply:
    """Evaluation under test."""
    return with_numpy(
        arrays, lambda array: Bounded.exact(array, form), lambda number: Bounded.scalar(number, scalar_format(form))
    )


def in_working_precision(arrays: dict[str, Any]) -> Apply:
    """Evaluation by NumPy itself, one operation after the other; scalars are doubles until they meet an array."""
    return with_numpy(arrays, working, np.float64)


ZERO: Any = np.asarray(Fraction(0), object)
ONE: Any = np.asarray(Fraction(1), object)

EXACT: dict[str, Callable[..., Any]] = {
    "add": elementwise(operator.add),
    "subtract": elementwise(operator.sub),
    "multiply": elementwise(operator.mul),
    "divide": elementwise(rationals.quotient),
    "maximum": elementwise(max),
    "minimum": elementwise(min),
    "sqrt": elementwise(rationals.sqrt),
    "square": elementwise(lambda x: x * x),
    "absolute": elementwise(abs),
    "negative": elementwise(operator.neg),
    "sign": elementwise(rationals.sign),
    "complement": elementwise(lambda x: 1 - x),
    "choose greater": elementwise(operator.gt),
    "choose less_equal": elementwise(operator.le),
    "guard": lambda a, b: _both(EXACT["choose greater"](a, ZERO), EXACT["choose greater"](b, ZERO)),
}
"""The operations on arrays of exact numbers; of a choice, its condition, None where a side is not finite."""


def _both(a: Any, b: Any) -> Any:
    kleene = np.frompyfunc(lambda p, q: False if p is False or q is False else (None if None in (p, q) else True), 2, 1)
    return np.asarray(kleene(a, b), object)


def exactly(arrays: dict[str, Any]) -> Apply:
    """Evaluation in rational arithmetic, nothing rounded."""
    return Honest(arrays, FORMATS["float64"], None).apply


class Honest:
    """Evaluation in rational arithmetic, each result rounded (and flushed) as one implementation or another would.

    Of every operation it is drawn whether its result is rounded to the format, kept exactly (a contracted FMA), or kept
    in float32 or double (a wide intermediate); of every scalar, whether it is held as given, in the scalar format, or
    rounded to the format when it meets an array; of every sum, the order; of every power, whether it is faithfully
    rounded or multiplied out. The result is rounded when it is stored.

    Args:
        arrays: the input arrays by name.
        form: the working format.
        rng: draws the choices; None to round nothing at all.
    """

    def __init__(self, arrays: dict[str, Any], form: Format, rng: np.random.Generator | None) -> None:
        self.arrays = arrays
        self.form = form
        self.rng = rng

    def stored(self, root: Expression, value: Any) -> Any:
        """The value of the whole expression, as it is stored."""
        return self._nearest(value, scalar_format(self.form) if root.is_scalar else self.form)

    def apply(self, node: Expression, x: list[Any]) -> Any:
        """The value of one node."""
        if node.op == "array":
            return self._flushed(rationals.fractions(self.arrays[node.leaf]), self.form)
        if node.op in ("scalar", "number"):
            return self._one_of(np.asarray(Fraction(node.leaf), object), scalar_format(self.form))
        form = scalar_format(self.form) if node.is_scalar else self.form
        x = [self._one_of(v, form) if _meets_array(node, i) else v for i, v in enumerate(x)]
        if node.op == "sum":
            return np.asarray(self._sum(list(x[0].reshape(-1)), form), object)
        if node.op == "guard" or node.op in COMPARISONS:
            return self._chosen(EXACT[node.op](x[0], x[1]), x[2], x[3] if len(x) > 3 else ONE)
        if node.op == "power":
            return np.asarray(np.frompyfunc(lambda base, exponent: self._power(base, exponent, form), 2, 1)(*x), object)
        return self._rounded(EXACT[node.op](*x), form) if node.op in ROUNDED else EXACT[node.op](*x)

    def _nearest(self, value: Any, form: Format) -> Any:
        return elementwise(lambda number: rounded(number, form))(value)

    def _one_of(self, value: Any, form: Format) -> Any:
        return value if self.rng is None or self.rng.random() < 0.5 else self._nearest(value, form)

    def _rounded(self, value: Any, form: Format) -> Any:
        if self.rng is None:
            return value
        wider = [None, *(FORMATS[name] for name in ("float32", "float64") if FORMATS[name].roundoff < form.roundoff)]
        held = form if self.rng.random() < 0.7 else wider[self.rng.integers(len(wider))]
        return value if held is None else self._flushed(self._nearest(value, held), held)

    def _flushed(self, value: Any, form: Format) -> Any:
        """Flush subnormals to zero in half of the cases, where the format's hardware may do so."""
        if self.rng is None or not form.flushes or self.rng.random() < 0.5:
            return value
        return elementwise(lambda number: Fraction(0) if abs(number) < form.smallest_normal else number)(value)

    def _chosen(self, condition: Any, a: Any, b: Any) -> Any:
        """Elements of ``a`` or ``b``; where an infinity or a NaN is compared, either."""
        either = self.rng is not None and bool(self.rng.random() < 0.5)
        choose = np.frompyfunc(lambda truth, x, y: x if (either if truth is None else truth) else y, 3, 1)
        return np.asarray(choose(condition, a, b), object)

    def _sum(self, terms: list[Any], form: Format) -> Any:
        """The sum in a random order, of terms and of partial sums alike."""
        while len(terms) > 1:
            i, j = (0, 1) if self.rng is None else self.rng.choice(len(terms), 2, replace=False)
            pair = [np.asarray(terms[k], object) for k in (i, j)]
            terms = [term for k, term in enumerate(terms) if k not in (i, j)]
            terms.append(self._rounded(EXACT["add"](*pair), form).item())
        return terms[0] if terms else Fraction(0)

    def _power(self, base: Number, exponent: Number, form: Format) -> Number:
        if base is None or exponent is None:
            return Fraction(1) if exponent == 0 else None  # IEEE 754: so even of an infinity or a NaN
        if self.rng is None:
            return rationals.power(base, exponent)
        if exponent.denominator == 1 and exponent >= 1 and self.rng.random() < 0.5:
            product: Number = base
            for _ in range(exponent.numerator - 1):
                product = None if product is None else rounded(product * base, form)
            return product
        value = rationals.power(base, exponent)
        return rounded(value, form, list(Direction)[self.rng.integers(3)])


LEAVES = ("x", "y", "z", "zeros")
SCALARS = (0.9, 0.999, 1e-3, 1 / 3, 1e-8, 0.5, 0.0, 1.0)
EXPONENTS = (2, 3, 7, 1, 0.5, 0.3, 1 / 3, 0.0, -0.5, -1, -2)


Choose = Callable[[Sequence[Any]], Any]
"""Picks one of several options: by Hypothesis, or at random."""

SOME_OPS = (*BINARY, *BINARY, *UNARY, *CHOICES, "itself", "norm", "power")
NONNEGATIVE_OPS = ("square", "absolute", "sqrt", "itself", "add", "multiply", "maximum", "norm")


def expression(choose: Choose, depth: int, ops: Sequence[str] = SOME_OPS, nonnegative: bool = False) -> Expression:
    """An expression of at most that depth, whose roots and powers mostly have operands that cannot be negative."""
    if depth == 0:
        leaf = choose([*LEAVES[:3], *LEAVES, *SCALARS])
        node = Expression("scalar" if isinstance(leaf, float) else "array", leaf=leaf)
        return Expression("absolute", (node,)) if nonnegative else node

    def operand(nonnegative: bool = False) -> Expression:
        return expression(choose, choose(range(depth)), ops, nonnegative)

    match op := choose(NONNEGATIVE_OPS if nonnegative else ops):
        case "itself":
            factor = operand()
            return Expression("multiply", (factor, factor))
        case "norm":
            return Expression("sqrt", (Expression("sum", (Expression("square", (operand(),)),)),))
        case "sqrt":
            return Expression("sqrt", (operand(choose(range(10)) > 0),))
        case "power":
            exponent = choose(EXPONENTS)
            kind = choose(["scalar", "number"]) if isinstance(exponent, float) else "number"
            return Expression("power", (operand(isinstance(exponent, float)), Expression(kind, leaf=exponent)))
        case _ if op in CHOICES:
            chosen = Expression("multiply", (Expression("array", leaf="x"), operand()))  # never a choice of scalars
            return Expression(op, (operand(), operand(), chosen, *([] if op == "guard" else [operand()])))
        case _:
            return Expression(op, tuple(operand(nonnegative) for _ in range(1 if op in UNARY else 2)))


@st.composite
def expressions(draw: st.DrawFn, depth: int) -> Expression:
    """Expressions drawn by Hypothesis."""
    return expression(lambda options: draw(st.sampled_from(options)), depth)


def random_expression(rng: np.random.Generator, depth: int, ops: Sequence[str]) -> Expression:
    """An expression drawn at random, of exactly that depth."""
    while True:
        root = expression(lambda options: options[int(rng.integers(len(options)))], depth, ops)
        if _depth(root) >= depth and not root.is_scalar:
            return root


def _depth(node: Expression) -> int:
    return 1 + max(map(_depth, node.args)) if node.args else 0


def _meets_array(node: Expression, i: int) -> bool:
    """Whether operand ``i`` is a scalar that is combined, compared or chosen together with an array."""
    is_choice = node.op in CHOICES
    with_number = node.op == "guard" and i < 2
    together = node.args[i // 2 * 2 : i // 2 * 2 + 2] if is_choice else node.args
    return node.args[i].is_scalar and not with_number and not all(arg.is_scalar for arg in together)


MAGNITUDES: dict[str, Callable[[np.random.Generator, Format, int], Any]] = {
    "ordinary": lambda rng, form, n: rng.standard_normal(n),
    "close": lambda rng, form, n: 1 + rng.integers(-4, 5, n) * 2 * form.roundoff,
    "mixed": lambda rng, form, n: rng.standard_normal(n) * np.exp2(rng.integers(-12, 7, n)),
    "subnormal": lambda rng, form, n: rng.integers(-9, 10, n) * form.tiny,
    "near underflow": lambda rng, form, n: rng.standard_normal(n) * np.sqrt(form.tiny / form.roundoff),
    "near overflow": lambda rng, form, n: rng.uniform(-1, 1, n) * form.largest,
    "anywhere": lambda rng, form, n: rng.standard_normal(n) * np.exp2(
        rng.uniform(np.log2(form.tiny), np.log2(form.largest) - 3, n)
    ),
}  # fmt: skip
"""Kinds of input arrays. Every third element or so is an exact zero."""


def draw_arrays(rng: np.random.Generator, form: Format, kinds: list[str], n: int) -> dict[str, Any]:
    """One array for each of `LEAVES`; the last is all zeros."""
    arrays = {
        leaf: np.asarray(MAGNITUDES[kind](rng, form, n) * (rng.random(n) < 0.8)).astype(form.dtype)
        for leaf, kind in zip(LEAVES, kinds, strict=False)
    }
    return arrays | {"zeros": np.zeros(n, form.dtype)}
