"""Lays out the tensors of many cases side by side, and updates them together.

Elements stand down and tensors across, and what is one number in a case, such as a hyperparameter, is a row of them,
one for each tensor. Tensors of one size are updated together, or any where elements are independent, cut into strips of
`STRIP`. Where a tensor has no gradient it is not updated, so each takes its next update in every evaluation, whatever
step that is of its case; those with most updates stand first, and the others drop out behind their last.

What all cases are fed is one flat array, and what is expected of them two. Strips are read from there and written to
there by index, as an array for each tensor in each step would take longer to make than its arithmetic.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise, product, zip_longest
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import BOUND, Format, side_by_side
from optimetry.conformance.oracle.expected import BoundedNumbers
from optimetry.conformance.oracle.joined import Group, groups_of
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.rule import Rule, State
from optimetry.reference.training import Training

STRIP = 8
"""The elements of a tensor that stand below each other where elements are independent."""

NEVER = 2**62
"""A step that never comes."""


def side_by_side_evaluated(
    cases: Sequence[Case], rules: Sequence[Rule], numbers: Sequence[BoundedNumbers], elementwise: bool
) -> Iterator[tuple[Array, Array]]:
    """Evaluate a rule on cases; yield the values and the bounds after all steps of each, shape (steps, elements).

    Args:
        cases: with elements, of one dtype.
        rules: the formula for each, which differ in real hyperparameters alone.
        numbers: what its numbers become; they differ in nothing else.
        elementwise: whether elements are independent.
    """
    groups = [list(groups_of(case, elementwise)) for case in cases]
    flat, scalars = _Flat(cases, groups, side_by_side(numbers[0].form)), _Scalars(cases, rules, numbers)
    widths: dict[int, list[_Part]] = {}
    for number, (case, own, begin) in enumerate(zip(cases, groups, flat.begins.tolist(), strict=True)):
        for part in _parts(case, own, number, begin):
            widths.setdefault(STRIP if elementwise else sum(part.sizes), []).append(part)
    for width, parts in widths.items():
        _Strips(parts, width, flat.sizes).update(flat, scalars)
    return flat.expected()


class _Flat:
    """What all cases are fed and what is expected, number by number: a row of parameters for each case, and one a step.

    Args:
        cases: those that are evaluated together.
        groups: the parameters of each, as `groups_of` yields them.
        form: their format.

    Attributes:
        form: as given.
        sizes: the elements of each case.
        begins: where the rows of each case begin.
        ends: where they end.
        fed: the parameters and, in the row of each step, the gradients; anything where one is missing.
        value: the parameters after each step, where its gradients stand in ``fed``.
        bound: their bounds.
    """

    def __init__(self, cases: Sequence[Case], groups: Sequence[Sequence[Group]], form: Format) -> None:
        self.form = form
        self.sizes = np.array([case.size for case in cases])
        self.ends = np.cumsum(self.sizes * [1 + len(case.grads) for case in cases])
        self.begins = np.concatenate([[0], self.ends[:-1]])
        fed = [array.tobytes() for array in chain(*map(_fed, cases, groups))]  # joined in half the time of the arrays
        self.fed = np.frombuffer(b"".join(fed), cases[0].form.dtype)
        self.value, self.bound = np.empty(len(self.fed), form.wide), np.empty(len(self.fed), BOUND)

    def expected(self) -> Iterator[tuple[Array, Array]]:
        """Yield the values and the bounds of each case."""
        for size, begin, end in zip(self.sizes, self.begins + self.sizes, self.ends, strict=True):
            yield self.value[begin:end].reshape(-1, size), self.bound[begin:end].reshape(-1, size)


def _fed(case: Case, groups: Sequence[Group]) -> list[Any]:
    """Return the parameters, and the gradients of each step; a parameter where one is missing."""
    arrays = [*case.parameters, *chain(*case.grads)]
    for missing, group in groups:
        for step, i in product(missing, group):
            arrays[(1 + step) * len(case.parameters) + i] = case.parameters[i]
    return arrays


class _Part(NamedTuple):
    """The elements of a case that are updated together: a tensor, or several where elements are independent.

    Attributes:
        number: of the case.
        begins: where each of its tensors begins in the first row of its case.
        sizes: how many elements each has.
        missing: the steps in which they have no gradient, and are not updated.
        updates: how many steps are left.
    """

    number: int
    begins: Sequence[int]
    sizes: Sequence[int]
    missing: Sequence[int]
    updates: int


def _parts(case: Case, groups: Sequence[Group], number: int, begin: int) -> Iterator[_Part]:
    """Yield the parts of a case whose rows begin there; none that has no elements."""
    sizes = [param.size for param in case.parameters]
    begins = list(accumulate(sizes, initial=begin))
    for missing, group in groups:
        if any(own := [sizes[i] for i in group]):
            yield _Part(number, [begins[i] for i in group], own, missing, len(case.grads) - len(missing))


class _Strips:
    """Strips of one width side by side, those with most updates first.

    The elements of a part follow one another across its strips, and then down; where there are no more, they begin
    again with the first, which then is computed twice.

    Attributes:
        owner: the number of each strip's case.
        updates: how often each is updated.
        first: where its elements stand in the first row of its case, shape (width, strips).
        size: how far the next row is.
        missing: the steps without a gradient, ascending, shape (steps, strips); then `NEVER`.
    """

    def __init__(self, parts: Sequence[_Part], width: int, case_sizes: Array) -> None:
        parts = sorted(parts, key=lambda part: -part.updates)
        sizes = np.array([sum(part.sizes) for part in parts])
        counts = -(-sizes // width)
        part = np.repeat(np.arange(len(parts)), counts)
        place = np.arange(len(part)) - _before(counts)[part] + np.arange(width)[:, np.newaxis] * counts[part]
        elements = _ranges(*(np.array(list(chain(*x))) for x in ([p.begins for p in parts], [p.sizes for p in parts])))
        self.first = elements[_before(sizes)[part] + place % sizes[part]]
        self.owner = np.array([each.number for each in parts])[part]
        self.updates = np.array([each.updates for each in parts])[part]
        self.size = case_sizes[self.owner]
        missing = list(zip_longest(*(each.missing for each in parts), fillvalue=NEVER))
        self.missing = np.array(missing, int).reshape(-1, len(parts))[:, part]

    def update(self, flat: _Flat, scalars: _Scalars) -> None:
        """Evaluate all steps."""
        param = Bounded.exact(flat.fed[self.first], flat.form)
        flat.value[self.first], flat.bound[self.first] = param.value, param.bound
        state: State | None = None
        for done, behind in pairwise(np.union1d(0, self.updates).tolist()):
            active = int(np.count_nonzero(self.updates >= behind))
            first, size, owner = (x[..., :active] for x in (self.first, self.size, self.owner))
            rates = scalars.begins[owner]
            trained = Training(scalars.rule(owner), [_first(param, active)])
            if state is not None:
                trained.states = [State(**{name: _first(slot, active) for name, slot in state.items()})]
            trained.updates = [done]
            for update in range(done, behind):
                step = self._step(update, active)
                where = first + (step + 1) * size
                grad = Bounded.exact(flat.fed.take(where), flat.form)
                (param,) = trained.step([grad], scalars.rate(rates + step))
                flat.value[where], flat.bound[where] = param.value, param.bound
            (state,) = trained.states
        for missing in self.missing:
            strips = np.flatnonzero(missing < NEVER)
            where = self.first[:, strips] + (missing[strips] + 1) * self.size[strips]
            for x in flat.value, flat.bound:
                x[where] = x[where - self.size[strips]]

    def _step(self, update: int, active: int) -> Array:
        """Return the step of this update for each of the first strips; a single one if none misses a gradient."""
        step = np.asarray(update)
        for number, missing in enumerate(self.missing[:, :active]):
            step = step + (missing <= update + number)
        return step


def _before(counts: Array) -> Array:
    """Return, for each count, the sum of those before it."""
    return np.cumsum(counts) - counts


def _ranges(begins: Array, sizes: Array) -> Array:
    """Return the whole numbers of each range, one range behind the other."""
    return np.repeat(begins - _before(sizes), sizes) + np.arange(sizes.sum())


def _first(x: Any, count: int) -> Any:
    """Return the first strips of an array of them; what is the same for all stays."""
    if not isinstance(x, Bounded) or not x.ndim:
        return x
    return Bounded(x.value[..., :count], x.bound[..., :count], x.form, x.nonnegative, x.scalars_in)


class _Scalars:
    """The hyperparameters and learning rates of all cases, side by side.

    Attributes:
        hyper: each real hyperparameter, a row of all cases.
        rates: each learning rate that any of them has.
        which: for each step, case after case, the place of its learning rate in ``rates``.
        begins: where the steps of each case begin there.
    """

    def __init__(self, cases: Sequence[Case], rules: Sequence[Rule], numbers: Sequence[BoundedNumbers]) -> None:
        self._rule = rule = rules[0]
        self.hyper = {
            name: _stacked([x.scalar(name, getattr(own, name)) for x, own in zip(numbers, rules, strict=True)])
            for name in (field.name for field in dataclasses.fields(rule))
            if isinstance(getattr(rule, name), float)
        }
        rates = [case.learning_rates for case in cases]
        self.begins = _before(np.array(list(map(len, rates))))
        every = np.array(list(chain(*rates)), np.float64)
        signed, self.which = np.unique(every.view(np.int64), return_inverse=True)  # as 0.0 and -0.0 are equal
        self.rates = _stacked([numbers[0].scalar(LEARNING_RATE, x) for x in signed.view(np.float64).tolist()])

    def rule(self, owner: Array) -> Rule:
        """Return the rule of the strips of these cases."""
        return self._rule.lifted(lambda name, _: _taken(self.hyper[name], owner))

    def rate(self, number: Array) -> Bounded:
        """Return learning rates by where they stand among those of all cases and steps."""
        return _taken(self.rates, self.which[number])


def _stacked(numbers: Sequence[Bounded]) -> Bounded:
    """Put numbers of one format side by side."""
    form, scalars_in = side_by_side(numbers[0].form), side_by_side(numbers[0].scalars_in)
    value, bound = np.array([x.value for x in numbers], form.wide), np.array([x.bound for x in numbers], BOUND)
    return Bounded(value, bound, form, scalars_in=scalars_in)


def _taken(numbers: Bounded, where: Any) -> Bounded:
    """Choose from numbers that stand side by side."""
    value, bound = numbers.value[where], numbers.bound[where]
    return Bounded(value, bound, numbers.form, numbers.nonnegative, numbers.scalars_in).remembering()
