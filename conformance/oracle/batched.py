"""Evaluates many cases of one rule at once, bit for bit as each would be evaluated alone.

A case has a few numbers in each array, and NumPy takes as long for a few as for hundreds. So the tensors of all cases
stand side by side, elements down and tensors across, and what is one number in a case, such as a hyperparameter, is a
row of them, one for each tensor. A rule computes on these as on its own arrays.

Tensors of one size are evaluated together, or any where elements are independent, cut into strips of `STRIP`. Where a
tensor has no gradient it is not updated, so each takes its next update in every evaluation, whatever step that is of
its case; those with most updates stand first, and the others drop out behind their last.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import NotAlikeError, side_by_side
from optimetry.conformance.oracle.expected import KEPT, Asked, Evaluation, evaluation_of
from optimetry.conformance.oracle.joined import columns_of, groups_of
from optimetry.conformance.subjects.rules import RuleSubject, training
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.rule import Rule, State
from optimetry.reference.training import Training

STRIP = 16
"""The elements of a tensor that stand below each other where elements are independent."""

ALONE, TIMES, MOST = 4, 7, 512
"""The cases that are evaluated one by one before any are together; how many times as many as there were before are
then evaluated at once, and how many at most.

Most targets that differ do so in their first cases, and need no others.
"""


def evaluated_ahead(cases: Iterable[Case], asked: Callable[[Case], Iterable[Asked]]) -> Iterator[Case]:
    """Yield cases; behind the first few, what will be asked about the next is evaluated together.

    Args:
        cases: as many as are needed.
        asked: returns what `expected` will be asked for about a case.
    """
    remaining, done = iter(cases), 0
    while batch := list(islice(remaining, 1 if done < ALONE else min(TIMES * done, MOST))):
        if len(batch) > 1:
            evaluate(chain.from_iterable(map(asked, batch)))
        yield from batch
        done += len(batch)


def evaluate(asked: Iterable[Asked]) -> None:
    """Evaluate what `expected` will be asked for, together where that can be done; what is evaluated already stays.

    Where numbers of different cases must be bounded by different formulas, the cases are left to be evaluated alone.
    """
    groups: dict[Any, list[_Member]] = {}
    for each in dict.fromkeys(asked):
        member = _member(each)
        if member is not None:
            groups.setdefault(member.alike, []).append(member)
    for group in groups.values():
        if len(group) > 1:
            try:
                with default_environment():
                    _evaluate(group)
            except NotAlikeError:
                continue


@dataclass(frozen=True)
class _Member:
    """One evaluation of a rule, which is to be filled.

    Attributes:
        rule: the formula.
        evaluation: is filled.
        alike: what evaluations must have in common to be made together.
    """

    rule: Rule
    evaluation: Evaluation
    alike: Any

    @property
    def case(self) -> Case:
        """What the rule is fed."""
        return self.evaluation.case

    def scalar(self, name: str, number: float) -> Bounded:
        """Make a hyperparameter or a learning rate."""
        return self.evaluation.numbers.scalar(name, number)


def _member(asked: Asked) -> _Member | None:
    """Return what is to be evaluated; None where that is done, or can be done for a case alone."""
    case = asked.case
    if case.size * len(case.grads) > KEPT or not case.size:
        return None
    evaluation = evaluation_of(asked)
    numbers, rule = evaluation.numbers, asked.computed or evaluation.numbers.subject.of(case.hyper)
    if evaluation.begun or not isinstance(numbers.subject, RuleSubject) or not isinstance(rule, Rule):
        return None
    if rule.reads_shapes or type(training(rule, ())) is not Training:
        return None
    fields = {field.name: getattr(rule, field.name) for field in dataclasses.fields(rule)}
    chosen = tuple((name, repr(value)) for name, value in fields.items() if not isinstance(value, float))
    kind = type(rule), chosen, evaluation.elementwise, numbers.form, numbers.narrow, numbers.combined
    return _Member(rule, evaluation, kind)


@dataclass(frozen=True)
class _Part:
    """The elements of a case that are updated together: a tensor, or several where elements are independent.

    Attributes:
        number: of the evaluation.
        columns: the elements among those of the case; a slice if they are all.
        size: how many they are.
        steps: those in which they have a gradient, and are updated.
        updates: how often they have been updated behind each step of the case.
    """

    number: int
    columns: Any
    size: int
    steps: Array
    updates: Array


def _evaluate(group: Sequence[_Member]) -> None:
    """Evaluate what can be evaluated together."""
    widths: dict[int, list[_Part]] = {}
    for number, member in enumerate(group):
        for width, part in _parts(number, member):
            widths.setdefault(width, []).append(part)
    results, rows, numbers = [x.evaluation.empty() for x in group], [_rows(x.case) for x in group], _Numbers(group)
    for width, parts in widths.items():
        side = _Side(group, parts, width, rows)
        evaluated = side.evaluated(numbers)
        for part, strips in zip(parts, side.strips, strict=True):
            for own, every in zip(results[part.number], evaluated, strict=True):
                behind = every[part.updates, :, strips]
                own[:, part.columns] = behind.reshape(len(behind), -1)[:, : part.size]
    for member, result in zip(group, results, strict=True):
        member.evaluation.fill(*result)


def _parts(number: int, member: _Member) -> Iterator[tuple[int, _Part]]:
    """Yield the parts of a case, with the width of their strips; none that has no elements."""
    case, elementwise = member.case, member.evaluation.elementwise
    for parameters in groups_of(case, elementwise):
        if size := sum(case.parameters[i].size for i in parameters):
            columns = slice(None) if size == case.size else columns_of(case, parameters)
            present = np.array([grads[parameters[0]] is not None for grads in case.grads])
            part = _Part(number, columns, size, np.flatnonzero(present), np.cumsum(present))
            yield STRIP if elementwise else size, part


def _rows(case: Case) -> tuple[Array, Array]:
    """Return the parameters of a case as a row, and its gradients as a row a step, with zeros where one is missing."""
    grads = [
        np.zeros_like(param) if grad is None else grad
        for each in case.grads
        for param, grad in zip(case.parameters, each, strict=True)
    ]
    return flat(case.parameters), flat(grads).reshape(-1, case.size)


class _Side:
    """Strips of one width side by side, those with most updates first, and what they are fed.

    The elements of a part follow one another across its strips, and then down.

    Attributes:
        owner: the number of each strip's evaluation.
        updates: how often each is updated.
        steps: the step of each strip's updates, shape (updates, strips).
        strips: those of each part.
        start: the parameters, shape (width, strips); strips that have fewer elements are filled up with zeros.
        grads: the gradients of each update, shape (updates, width, strips).
    """

    def __init__(
        self, group: Sequence[_Member], parts: Sequence[_Part], width: int, rows: Sequence[tuple[Array, Array]]
    ) -> None:
        case = group[0].case
        self.form = side_by_side(group[0].evaluation.numbers.form)
        counts = [-(-part.size // width) for part in parts]
        updates = np.repeat([len(part.steps) for part in parts], counts)
        order = np.argsort(-updates, kind="stable")  # which leaves the strips of a part together
        self.updates, self.owner = updates[order], np.repeat([part.number for part in parts], counts)[order]
        firsts = np.argsort(order)[np.cumsum([0, *counts[:-1]])]
        self.strips = [slice(first, first + count) for first, count in zip(firsts, counts, strict=True)]
        self.steps = np.zeros((self.updates[0], len(order)), int)
        self.start = np.zeros((width, len(order)), case.form.dtype)
        self.grads = np.zeros((self.updates[0], width, len(order)), case.form.dtype)
        for part, strips, count in zip(parts, self.strips, counts, strict=True):
            parameters, grads = rows[part.number]
            fed = np.zeros((1 + len(part.steps), width * count), case.form.dtype)
            fed[0, : part.size], fed[1:, : part.size] = parameters[part.columns], grads[part.steps][:, part.columns]
            blocks = fed.reshape(-1, width, count)
            self.start[:, strips], self.grads[: len(part.steps), :, strips] = blocks[0], blocks[1:]
            self.steps[: len(part.steps), strips] = part.steps[:, np.newaxis]

    def evaluated(self, numbers: _Numbers) -> tuple[Array, Array]:
        """Return the values and the bounds before and after each update, each of shape (updates + 1, width, strips)."""
        param = Bounded.exact(self.start, self.form)
        value, bound = (np.empty((len(self.grads) + 1, *self.start.shape), self.form.wide) for _ in range(2))
        value[0], bound[0] = param.value, param.bound
        state: State | None = None
        for done, behind in pairwise(np.unique([0, *self.updates])):
            active = int(np.count_nonzero(self.updates >= behind))
            trained = Training(numbers.rule(self.owner[:active]), [_first(param, active)])
            if state is not None:
                trained.states = [State(**{name: _first(slot, active) for name, slot in state.items()})]
            trained.updates = [int(done)]
            for update in range(done, behind):
                grad = Bounded.exact(self.grads[update, :, :active], self.form)
                (param,) = trained.step([grad], numbers.rate(self.owner[:active], self.steps[update, :active]))
                value[update + 1, :, :active], bound[update + 1, :, :active] = param.value, param.bound
            (state,) = trained.states
        return value, bound


def _first(x: Any, count: int) -> Any:
    """Return the first strips of an array of them; what is the same for all stays."""
    if not isinstance(x, Bounded) or not x.ndim:
        return x
    return Bounded(x.value[..., :count], x.bound[..., :count], x.form, x.nonnegative, x.scalars_in)


class _Numbers:
    """The hyperparameters and learning rates of evaluations, side by side.

    Attributes:
        hyper: each real hyperparameter of all evaluations.
        rates: each learning rate that any of them has.
        which: the number of the one that each of them has in each step, shape (evaluations, steps).
    """

    def __init__(self, group: Sequence[_Member]) -> None:
        self._rule = rule = group[0].rule
        names = [field.name for field in dataclasses.fields(rule) if isinstance(getattr(rule, field.name), float)]
        self.hyper = {name: _stacked([x.scalar(name, getattr(x.rule, name)) for x in group]) for name in names}
        places: dict[tuple[float, float], int] = {}
        self.which = np.zeros((len(group), max(len(x.case.grads) for x in group)), int)
        for number, member in enumerate(group):
            signed = [(rate, math.copysign(1.0, rate)) for rate in member.case.learning_rates]
            self.which[number, : len(signed)] = [places.setdefault(rate, len(places)) for rate in signed]
        self.rates = _stacked([group[0].scalar(LEARNING_RATE, rate) for rate, _ in places])

    def rule(self, owner: Array) -> Rule:
        """Return the rule of the strips of these evaluations."""
        return self._rule.lifted(lambda name, _: _taken(self.hyper[name], owner))

    def rate(self, owner: Array, steps: Array) -> Bounded:
        """Return the learning rates of the strips of these evaluations, each in its own step."""
        return _taken(self.rates, self.which[owner, steps])


def _stacked(numbers: Sequence[Bounded]) -> Bounded:
    """Put numbers of one format side by side."""
    form, scalars_in = side_by_side(numbers[0].form), side_by_side(numbers[0].scalars_in)
    value, bound = (np.array([getattr(x, part) for x in numbers], form.wide) for part in ("value", "bound"))
    return Bounded(value, bound, form, scalars_in=scalars_in)


def _taken(numbers: Bounded, where: Any) -> Bounded:
    """Choose from numbers that stand side by side."""
    return Bounded(
        numbers.value[where], numbers.bound[where], numbers.form, scalars_in=numbers.scalars_in
    ).remembering()
