"""Traces a rule's update as an expression, which can be rewritten and evaluated in other ways than NumPy's own.

`traced` calls the rule on nodes in place of arrays; each NumPy function that the rule calls becomes a node (NEP 13, NEP
18). Hyperparameters and the learning rate are nodes as well, marked ``scalar``: implementations treat numbers and
arrays differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from optimetry.conformance.subjects.rules import number_slots
from optimetry.reference.rule import Rule, State

INPUT, GETITEM, SUM, WHERE, FMA, LERP = "input", "getitem", "sum", "where", "fma", "lerp"

Op = np.ufunc | str | None
"""What a node computes: a ufunc, one of the names above, or None for a known value."""


class Node(NDArrayOperatorsMixin):
    """One operation of an expression, or a leaf.

    Attributes:
        op: what it computes.
        args: its operands; for a leaf its value alone, or its name among the inputs.
        shape: the shape that the rule sees, where it asks for one.
        scalar: whether it depends on no array.
    """

    __slots__ = ("args", "op", "scalar", "shape")

    def __init__(self, op: Op, *args: Any, shape: tuple[int, ...] = (), scalar: bool | None = None) -> None:
        self.op = op
        self.args = args
        self.shape = shape
        self.scalar = all(arg.scalar for arg in args) if scalar is None else scalar

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __getitem__(self, index: int) -> Node:
        return Node(GETITEM, self, _node(index))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return Node(ufunc, *map(_node, inputs)) if method == "__call__" and not kwargs else NotImplemented

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where:
            return Node(WHERE, *map(_node, args))
        return Node(SUM, _node(args[0])) if func is np.sum else NotImplemented


def number(value: Any) -> Node:
    """Make a leaf of a known number."""
    return Node(None, value, scalar=True)


def _node(operand: Any) -> Node:
    if isinstance(operand, Node):
        return operand
    is_array = isinstance(operand, np.ndarray) and operand.ndim > 0
    return Node(None, operand, shape=operand.shape, scalar=False) if is_array else number(operand)


PARAM, GRAD, LEARNING_RATE = "param", "grad", "learning_rate"
"""The names of the inputs, beside those of the slots; the parameter's is also the name of its new value."""


def traced(rule: Rule, t: int, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Node]:
    """Trace one update: the expressions of the parameter and of each slot, for arrays of these shapes."""
    inputs = {name: Node(INPUT, name, shape=shape, scalar=False) for name, shape in shapes.items()}
    inputs |= {name: Node(INPUT, name, scalar=True) for name in number_slots(rule)}
    param, grad = inputs.pop(PARAM), inputs.pop(GRAD)
    lifted = rule.lifted(lambda name, value: number(value))
    after, slots = lifted.update(param, grad, State(**inputs), Node(INPUT, LEARNING_RATE, scalar=True), t)
    return {PARAM: after, **slots}


Rewriting = Callable[[Node], Node]
"""Another expression for the same number, its operands already rewritten; the same node where it has none."""


def as_documented(node: Node) -> Node:
    """Return the same node."""
    return node


def rewritten(node: Node, rewriting: Rewriting, known: dict[int, Node]) -> Node:
    """Rewrite an expression from its leaves up; shared operands stay shared."""
    if node.op is None or node.op == INPUT:
        return node
    if id(node) not in known:
        args = [rewritten(arg, rewriting, known) for arg in node.args]
        same = all(new is old for new, old in zip(args, node.args, strict=True))
        known[id(node)] = rewriting(node if same else Node(node.op, *args, shape=node.shape))
    return known[id(node)]
