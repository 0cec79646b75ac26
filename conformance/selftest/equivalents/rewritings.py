"""Rewrites expressions to others for the same number, as a compiler or a careful author may."""

from __future__ import annotations

from functools import reduce

import numpy as np

from optimetry.conformance.selftest.equivalents.expression import FMA, INPUT, LERP, PARAM, Node, number


def _factors(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the factors of the numerator and the denominator of a chain of products and quotients."""
    if node.op is np.multiply:
        (a, b), (c, d) = _factors(node.args[0]), _factors(node.args[1])
        return a + c, b + d
    if node.op is np.divide:
        (a, b), (c, d) = _factors(node.args[0]), _factors(node.args[1])
        return a + d, b + c
    return [node], []


def _product(factors: list[Node]) -> Node | None:
    return reduce(lambda a, b: Node(np.multiply, a, b), factors) if factors else None


def _quotient(above: Node | None, below: Node | None) -> Node:
    above = above or number(1.0)
    return above if below is None else Node(np.divide, above, below)


def _split(nodes: list[Node]) -> tuple[list[Node], list[Node]]:
    return [node for node in nodes if node.scalar], [node for node in nodes if not node.scalar]


def _chain(node: Node) -> tuple[list[Node], list[Node]] | None:
    """Return the factors of a product or quotient of more than two, arrays among them; None of any other node."""
    above, below = _factors(node)
    return (above, below) if len(above) + len(below) > 2 and not node.scalar else None


def scalars_first(node: Node) -> Node:
    """Numbers are multiplied and divided before any array is."""
    if (chain := _chain(node)) is None:
        return node
    (numbers, arrays), (numbers_below, arrays_below) = map(_split, chain)
    factor = _quotient(_product(numbers), _product(numbers_below)) if numbers or numbers_below else None
    top = _product([*([factor] if factor is not None else []), *arrays])
    return _quotient(top, _product(arrays_below))


def scalars_last(node: Node) -> Node:
    """Arrays are multiplied and divided before any number is, one number after the other."""
    if (chain := _chain(node)) is None:
        return node
    (numbers, arrays), (numbers_below, arrays_below) = map(_split, chain)
    result = _quotient(_product(arrays), _product(arrays_below))
    for factor in reversed(numbers):
        result = Node(np.multiply, result, factor)
    for divisor in numbers_below:
        result = Node(np.divide, result, divisor)
    return result


def one_quotient(node: Node) -> Node:
    """All factors above the line over all below, each product from its end."""
    if (chain := _chain(node)) is None:
        return node
    return _quotient(*(_product(factors[::-1]) for factors in chain))


def commuted(node: Node) -> Node:
    """Operands of sums, products and maxima change places."""
    swaps = node.op in (np.add, np.multiply, np.maximum)
    return Node(node.op, node.args[1], node.args[0], shape=node.shape) if swaps else node


def _average(node: Node) -> tuple[Node, Node, Node] | None:
    """Return the weight, the old and the new operand of ``b*old + (1 - b)*new``."""
    if node.op is not np.add or any(arg.op is not np.multiply for arg in node.args):
        return None
    (kept, old), (weight, new) = node.args[0].args, node.args[1].args
    is_complement = weight.op is np.subtract and weight.args[0].args == (1,) and weight.args[1] is kept
    return (weight, old, new) if is_complement else None


def lerp(node: Node) -> Node:
    """Averages as ``old + (1 - b)*(new - old)`` where 1 - b < 1/2, else ``new - b*(new - old)``, as torch.lerp."""
    average = _average(node)
    return node if average is None else Node(LERP, *average)


def one_sided_lerp(node: Node) -> Node:
    """Averages as ``old + (1 - b)*(new - old)`` for every b."""
    average = _average(node)
    if average is None:
        return node
    weight, old, new = average
    return Node(np.add, old, Node(np.multiply, weight, Node(np.subtract, new, old)))


def _is_product(node: Node) -> bool:
    return node.op in (np.multiply, np.square) and not node.scalar


def _fma(product: Node, other: Node, *, negative: bool = False) -> Node:
    a, b = product.args if product.op is np.multiply else product.args * 2
    return Node(FMA, Node(np.negative, a) if negative else a, b, other)


def fma_first(node: Node) -> Node:
    """Products that are added or subtracted become one rounding with the sum, the first of two."""
    if node.op is np.add and any(map(_is_product, node.args)):
        first, second = node.args
        return _fma(first, second) if _is_product(first) else _fma(second, first)
    if node.op is np.subtract and _is_product(node.args[0]):
        return _fma(node.args[0], Node(np.negative, node.args[1]))
    return fma_last(node)


def fma_last(node: Node) -> Node:
    """Products that are added or subtracted become one rounding with the sum, the second of two."""
    if node.op is np.add and any(map(_is_product, node.args)):
        first, second = node.args
        return _fma(second, first) if _is_product(second) else _fma(first, second)
    if node.op is np.subtract and _is_product(node.args[1]):
        return _fma(node.args[1], node.args[0], negative=True)
    return node


def reciprocal(node: Node) -> Node:
    """Arrays are divided by multiplying by the reciprocal."""
    if node.op is not np.divide or node.scalar:
        return node
    return Node(np.multiply, node.args[0], Node(np.divide, number(1.0), node.args[1]))


def reciprocal_root(node: Node) -> Node:
    """Division by a root, and the root of a quotient, by multiplying by the reciprocal root."""
    if node.op is np.divide and node.args[1].op is np.sqrt and not node.scalar:
        return Node(np.multiply, node.args[0], Node(np.divide, number(1.0), node.args[1]))
    if node.op is np.sqrt and node.args[0].op is np.divide:
        above, below = (Node(np.sqrt, arg) for arg in node.args[0].args)
        return Node(np.multiply, above, Node(np.divide, number(1.0), below))
    return node


def root_of_each(node: Node) -> Node:
    """The root of a quotient is the quotient of the roots."""
    if node.op is np.sqrt and node.args[0].op is np.divide:
        return Node(np.divide, *(Node(np.sqrt, arg) for arg in node.args[0].args))
    return node


def distributed(node: Node) -> Node:
    """A number times a sum of arrays is the sum of the products."""
    if node.op is np.multiply and node.args[0].scalar and node.args[1].op is np.add:
        return Node(np.add, *(Node(np.multiply, node.args[0], addend) for addend in node.args[1].args))
    return node


def _term(taken: Node, param: Node) -> tuple[Node, Node | None] | None:
    """Return the number k and the rest s of ``s + k*w`` or ``r*(s + k*w)``, r*k and r*s of the latter, or ``k*w``."""
    if taken.op is np.multiply and taken.args[0].scalar:
        rate, bracket = taken.args
        if bracket is param:
            return rate, None
        inner = _term(bracket, param) if bracket.op is np.add else None
        if inner is None:
            return None
        share, addend = inner
        return Node(np.multiply, rate, share), addend if addend is None else Node(np.multiply, rate, addend)
    if taken.op is np.add:
        addend, product = taken.args
        if product.op is np.multiply and product.args[0].scalar and product.args[1] is param:
            return product.args[0], addend
    return None


def _is_parameter(node: Node) -> bool:
    return node.op == INPUT and node.args == (PARAM,)


def decay_multiplied(node: Node) -> Node:
    """``w - k*w`` is ``w*(1 - k)``; ``w - (s + k*w)`` and ``w - r*(s + k*w)`` are that, less the step."""
    term = _term(node.args[1], node.args[0]) if node.op is np.subtract and _is_parameter(node.args[0]) else None
    if term is None:
        return node
    share, step = term
    kept = Node(np.multiply, node.args[0], Node(np.subtract, number(1.0), share))
    return kept if step is None else Node(np.subtract, kept, step)


def decay_in_the_step(node: Node) -> Node:
    """``(w - r*k*w) - r*s`` is ``w - r*(s + k*w)``, with whatever number r both products begin with."""
    if node.op is not np.subtract or node.args[0].op is not np.subtract or not _is_parameter(node.args[0].args[0]):
        return node
    (param, taken), step = node.args[0].args, node.args[1]
    term = _term(taken, param)
    if term is None or term[1] is not None:
        return node
    (shares, _), (above, below) = _factors(term[0]), _factors(step)
    common = next((factor for factor in shares if any(factor is other for other in above)), None)
    share, quotient = (_product([x for x in factors if x is not common]) for factors in (shares, above))
    quotient = _quotient(quotient, _product(below))
    bracket = Node(np.add, quotient, param if share is None else Node(np.multiply, share, param))
    return Node(np.subtract, param, bracket if common is None else Node(np.multiply, common, bracket))


def sums_regrouped(node: Node) -> Node:
    """``(a + b) - c`` is ``a + (b - c)``, and ``a + (b - c)`` is ``(a - c) + b``."""
    if node.op is np.subtract and node.args[0].op is np.add and not node.scalar:
        a, b = node.args[0].args
        return Node(np.add, a, Node(np.subtract, b, node.args[1]))
    if node.op is np.add and node.args[1].op is np.subtract and not node.scalar:
        b, c = node.args[1].args
        return Node(np.add, Node(np.subtract, node.args[0], c), b)
    return node


def _is_zero(node: Node) -> bool:
    return node.op is None and node.scalar and node.args[0] == 0


def zeros_skipped(node: Node) -> Node:
    """Terms with a number that is 0 are left out, as in ``if weight_decay != 0``."""
    if node.scalar or not isinstance(node.op, np.ufunc) or not any(map(_is_zero, node.args)):
        return node
    if node.op is np.multiply:
        return number(0.0)
    first, *others = node.args
    other: Node = others[0] if _is_zero(first) else first
    if node.op is np.subtract and _is_zero(first):
        return Node(np.negative, other)
    return other if node.op in (np.add, np.subtract) else node


def compiled(node: Node) -> Node:
    """Lerp, reciprocals and FMA, as a compiler with fast-math may combine them."""
    return fma_last(reciprocal(lerp(node)))
