"""Works one element of a rejected target through two formulas, side by side: the documented one, and what explains it.

The step is that of the first divergence, and the element the one that is furthest off there. What
goes into both formulas, what they compute differently on the way, and what comes out stand side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.counterexamples.divergence import Divergence, first_divergence
from optimetry.conformance.judging.counterexamples.traced import Noted, differences, on_the_way
from optimetry.conformance.naming.alterations import altered
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.formulas.programs import PARAM
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.oracle.sampled import PlainNumbers
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Rule

MOST = 12
"""The most quantities between what goes in and what comes out that are shown."""

Quantities = dict[str, float]
"""Numbers of one element, by name."""


@dataclass(frozen=True)
class Quantity:
    """One quantity of the element.

    Attributes:
        what: its name, or the expression that gives it.
        documented: its value by the document, None where it has no such quantity.
        other: its value by what explains the target, None where that has none.
    """

    what: str
    documented: float | None
    other: float | None


@dataclass(frozen=True)
class Worked:
    """One element in two formulas.

    Attributes:
        divergence: the first divergence from the document.
        other: what explains the target, or comes nearest to it, in a few words; empty where that is the document.
        given: what goes in.
        between: what they compute differently on the way.
        after: what comes out.
    """

    divergence: Divergence
    other: str
    given: tuple[Quantity, ...]
    between: tuple[Quantity, ...]
    after: tuple[Quantity, ...]


def worked(target: Target, cases: Sequence[Case], other: Candidate, name: str, guard: Guard) -> Worked | None:
    """Work an element through the document and what explains the target, in the first case that shows a difference.

    Args:
        target: the rejected target.
        cases: what it may be fed, those with the simplest numbers first.
        other: what explains it, or comes nearest to it.
        name: the name of ``other``, see `Worked`.
        guard: what watches over its runs.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    for case in cases:
        if reason_unsupported(target, case) is None:
            divergence = first_divergence(target, case, subject_of(case).of(case.hyper), guard)
            if divergence is not None:
                return _beside(divergence, other, name)
    return None


def _beside(divergence: Divergence, other: Candidate, name: str) -> Worked | None:
    """Work the element of a divergence; None where what explains the target is about more runs than this one."""
    case = divergence.case
    value = other.expected(case).value
    if len(value) != len(case.grads):
        return None
    document = _Step.of(divergence, case, subject_of(case).of(case.hyper))
    fed, formula = _inputs(divergence, other)
    second = _Step({}, {}, {}) if formula is None else _Step.of(divergence, fed, formula)
    column = sum(param.size for param in case.parameters[: divergence.tensor]) + divergence.element
    after = {**second.after, new(PARAM): float(value[divergence.step - 1, column])}
    traced = document.between and second.between
    between = tuple(Quantity(*row) for row in differences(document.between, second.between)[:MOST]) if traced else ()
    unused = [slot for slot in second.inputs.keys() - document.inputs.keys() if second.is_idle(slot)]
    inputs, after = (
        {x: value for x, value in each.items() if x not in (*unused, *map(new, unused))}
        for each in (second.inputs, after)
    )
    return Worked(divergence, name, _rows(document.inputs, inputs), between, _rows(document.after, after))


def new(name: str) -> str:
    """Return the name of a slot or of the parameter after the step."""
    return f"new {name}"


def _inputs(divergence: Divergence, other: Any) -> tuple[Case, Declared | None]:
    """Return the case that reaches the formula of an explanation, and the formula; None where it has none."""
    case = divergence.case
    if isinstance(other, Split):
        alone = case.only([divergence.tensor]) if other.by.of_tensors else case
        return _inputs(divergence, other.side(other.by.holds(alone)))
    if isinstance(other, Mistaken):
        mistake = other.mistake
        formula = other.explanation.computed(case.hyper, mistake.hyper(case.hyper))
        return mistake.fed(case), altered(formula, mistake.alteration)
    return case, other.computed(case.hyper) if isinstance(other, Explanation) else None


def _rows(documented: Quantities, other: Quantities) -> tuple[Quantity, ...]:
    """Pair the quantities of two formulas, one row each."""
    names = dict.fromkeys([*documented, *other])
    return tuple(Quantity(name, documented.get(name), other.get(name)) for name in names)


@dataclass(frozen=True)
class _Step:
    """The numbers of one element in one step of a formula."""

    inputs: Quantities
    between: Noted
    after: Quantities

    @classmethod
    def of(cls, divergence: Divergence, case: Case, formula: Declared) -> _Step:
        """Evaluate a formula up to the step of a divergence, in float64."""
        subject, tensor = subject_of(case), divergence.tensor
        start, grad = case.parameters[tensor], case.grads[divergence.step - 1][tensor]

        def number(x: Any) -> float | None:
            """Return the element's number, or the only one; None where an array is of another shape."""
            array = np.asarray(x)
            if array.shape == start.shape:
                return float(array.reshape(-1)[divergence.element])
            return float(array) if array.ndim == 0 else None

        def of_element(arrays: Mapping[str, Any]) -> Quantities:
            return {name: value for name, x in arrays.items() if (value := number(x)) is not None}

        with np.errstate(all="ignore"):
            if not isinstance(subject, RuleSubject):
                *_, results = islice(subject.trajectory(case, PlainNumbers(), formula), divergence.step)
                return cls(of_element({"fed": grad}), {}, of_element({new(PARAM): results[tensor]}))
            steps = list(islice(subject.states(case, PlainNumbers(), formula), divergence.step))
        rate = case.learning_rates[divergence.step - 1]
        after, slots = (arrays[tensor] for arrays in steps[-1])
        first = cast(Rule, formula).initial_state(np.asarray(start, np.float64))
        before, state = (arrays[tensor] for arrays in steps[-2]) if divergence.step > 1 else (start, first)
        updates = sum(row[tensor] is not None for row in case.grads[: divergence.step])
        inputs = {PARAM: before, **({} if grad is None else {"grad": grad}), **state}
        quantities = {"lr": rate, **of_element(inputs)}
        traced = (
            {} if grad is None or not isinstance(formula, Rule) else on_the_way(formula, inputs, rate, updates, number)
        )
        return cls(quantities, traced, of_element({**{new(slot): x for slot, x in slots.items()}, new(PARAM): after}))

    def is_idle(self, slot: str) -> bool:
        """Whether a slot is 0 and stays 0: a formula of a family has some that it does not use."""
        return self.inputs[slot] == 0 and self.after.get(new(slot)) == 0
