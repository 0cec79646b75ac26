"""Makes targets of engine styles: the documented rules, each computed in another honest way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.equivalents.evaluation import PLAIN, EvaluationStyle
from optimetry.conformance.selftest.equivalents.expression import (
    GRAD,
    LEARNING_RATE,
    PARAM,
    Node,
    Rewriting,
    as_documented,
    rewritten,
    traced,
)
from optimetry.conformance.selftest.equivalents.layouts import Layout, Piece, Updated, one_buffer, tensors
from optimetry.conformance.subjects.rules import number_slots
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State, rule_named


@dataclass(frozen=True, kw_only=True)
class Style:
    """One way in which an engine computes every rule.

    Attributes:
        name: unique among the styles.
        description: what it does, and which engines do so.
        rewriting: the expression that is evaluated, from the documented one.
        tail: the one that is evaluated for the tail of a vector, where that is another.
        evaluation: how it is evaluated.
        layout: on which arrays; by default all tensors in one buffer, where the rule allows it.
        wide_state: whether the state stays in the wide format between steps.
        wide_parameters: whether the parameters do, as a master copy does.
        in_place: whether the same arrays are updated and returned in every step.
        smallest_decay: the smallest decay for which the style is an equivalent.
        needs_elementwise: whether the style takes tensors apart, so that no rule with norms can be computed in it.
        overflows: rules in which what the style computes may be beyond the format where their formula is not.
        keeps_bits: whether the results are the reference's, bit for bit: another layout, or operands that commute.
    """

    name: str
    description: str
    rewriting: Rewriting = as_documented
    tail: Rewriting | None = None
    evaluation: EvaluationStyle = PLAIN
    layout: Layout | None = None
    wide_state: bool = False
    wide_parameters: bool = False
    in_place: bool = False
    smallest_decay: float = 0.0
    needs_elementwise: bool = False
    overflows: tuple[str, ...] = ()
    keeps_bits: bool = False


DECAYS = ("alpha", "beta", "beta1", "beta2", "decay", "mu", "nu", "rho")
"""The names of hyperparameters that weigh the old average.

A rule without averages may call others so (`beta` of papers.ftrl): no style with a `smallest_decay` applies to it.
"""

MASTER = "master"
"""The name under which a master copy of the parameters is saved."""


Shapes = tuple[tuple[str, tuple[int, ...]], ...]
"""The shape of each array."""


@lru_cache(maxsize=1000)
def _expressions(rule: Rule, rewriting: Rewriting, t: int, shapes: Shapes) -> dict[str, Node]:
    known: dict[int, Node] = {}
    return {name: rewritten(node, rewriting, known) for name, node in _documented(rule, t, shapes).items()}


@lru_cache(maxsize=1000)
def _documented(rule: Rule, t: int, shapes: Shapes) -> dict[str, Node]:
    """Trace an update once for the rewritings of all styles."""
    return traced(rule, t, dict(shapes))


class StyledRun(RuleRun):
    """A run of the documented rule in one style."""

    def __init__(self, rule: Rule, parameters: list[Array], style: Style) -> None:
        super().__init__(rule, parameters)
        self.style = style
        self.form = FORMATS[parameters[0].dtype.name]
        self.numbers = number_slots(rule)
        self.returned = [np.array(param) for param in parameters]
        self.masters = [self._held(param, style.wide_parameters) for param in parameters]

    def _held(self, array: Array, wide: bool) -> Array:
        with np.errstate(over="ignore"):  # as the format has it
            return np.array(array).astype(self.form.wide if wide else self.form.dtype)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One update; the arrays returned are the caller's to read, and new ones unless the style is in place."""
        training = self.training
        present = [(i, grad) for i, grad in enumerate(grads) if grad is not None]
        pieces = []
        for i, grad in present:
            training.updates[i] += 1
            state = training.states[i]
            numbers = {slot: state[slot] for slot in self.numbers}
            slots = {slot: np.array(array) for slot, array in state.items() if slot not in numbers}
            pieces.append(Piece(self.masters[i], grad, slots, numbers, training.updates[i]))

        def update(piece: Piece) -> Updated:
            return self._update(piece, learning_rate)

        layout = self.style.layout or (one_buffer if training.rule.elementwise else tensors)
        for (i, _), piece, (param, slots) in zip(present, pieces, layout(pieces, update), strict=True):
            self.masters[i] = param
            arrays = {slot: working(array) for slot, array in slots.items()}
            training.states[i] = State(**arrays, **self._numbers(piece, learning_rate))
            if self.style.in_place:
                self.returned[i][...] = param
            else:
                self.returned[i] = self._held(param, wide=False)
        return self.returned if self.style.in_place else [param.copy() for param in self.returned]

    def _update(self, piece: Piece, learning_rate: float) -> Updated:
        values = self._values(piece, learning_rate, (PARAM, *piece.slots))
        param = self._held(values.pop(PARAM)[1], self.style.wide_parameters)
        return param, {slot: self._held(array, self.style.wide_state) for slot, (_, array) in values.items()}

    def _numbers(self, piece: Piece, learning_rate: float) -> dict[str, Any]:
        """Return the slots that are numbers; those computed from arrays are held as these are."""
        values = self._values(piece, learning_rate, self.numbers)
        return {
            slot: value if node.scalar else working(self._held(value, self.style.wide_state))
            for slot, (node, value) in values.items()
        }

    def _values(self, piece: Piece, learning_rate: float, names: Sequence[str]) -> dict[str, tuple[Node, Any]]:
        """Evaluate the expressions of these names."""
        style, rule = self.style, self.training.rule
        rewriting = style.tail if piece.is_tail and style.tail else style.rewriting
        arrays = {PARAM: piece.param, GRAD: piece.grad, **piece.slots}
        nodes = _expressions(rule, rewriting, piece.t, tuple((name, array.shape) for name, array in arrays.items()))
        inputs = {**arrays, **piece.numbers, LEARNING_RATE: learning_rate}
        known: dict[int, Any] = {}
        with np.errstate(all="ignore"):  # of this thread
            return {
                name: (nodes[name], style.evaluation.value(nodes[name], self.form, inputs, known)) for name in names
            }

    def state(self) -> dict[str, list[Array]]:
        """Every slot, the counts of updates and, where there is one, the master copy."""
        masters = {MASTER: [param.copy() for param in self.masters]} if self.style.wide_parameters else {}
        return super().state() | masters

    def load(self, state: dict[str, list[Array]]) -> None:
        """Continue from what `state` returned."""
        super().load(state)
        self.masters = list(state.get(MASTER, self.masters))


@dataclass
class StyledTarget:
    """Every documented rule in one style."""

    style: Style
    name: str = "equivalents"
    version: str = "0"

    @property
    def engine(self) -> str:
        """The style's name."""
        return self.style.name

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Return why the style is no equivalent for these hyperparameters; None if it is."""
        smallest = min((hyper[name] for name in DECAYS if name in hyper), default=1.0)
        return f"cancels for decays below {self.style.smallest_decay}" if smallest < self.style.smallest_decay else None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> StyledRun:
        """Begin a run in this style."""
        return StyledRun(rule_named(optimizer).of(hyper), parameters, self.style)
