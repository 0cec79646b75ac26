"""Evaluates many cases of one rule at once, bit for bit as each would be evaluated alone.

A case has a few numbers in each array, and NumPy takes as long for a few as for hundreds. So the tensors of all cases
are laid out side by side in `strips`, and a rule computes on these as on its own arrays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.formats import NotAlikeError
from optimetry.conformance.oracle.expected import KEPT, Asked, Evaluation, evaluation_of
from optimetry.conformance.oracle.strips import side_by_side_evaluated
from optimetry.conformance.subjects.rules import RuleSubject, training
from optimetry.reference.rule import Rule
from optimetry.reference.training import Training

ALONE, TIMES, MOST = 1, 20, 512
"""How many cases are evaluated one by one first; how many times all those before it each batch then has, and how many
cases at most.

Most targets that differ do so in their first case, and need no others; twenty together take as long as two or three
alone.
"""


def evaluated_ahead(
    cases: Iterable[Case], asked: Callable[[Case], Iterable[Asked]], alone: int = ALONE
) -> Iterator[Case]:
    """Yield cases; behind the first few, what will be asked about the next is evaluated together.

    Args:
        cases: as many as are needed.
        asked: returns what `expected` will be asked for about a case.
        alone: how many cases are evaluated one by one first.
    """
    remaining, done = iter(cases), 0
    while batch := list(islice(remaining, 1 if done < alone else min(TIMES * done, MOST))):
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
        evaluation: what is filled.
        alike: what evaluations must have in common to be made together.
    """

    rule: Rule
    evaluation: Evaluation
    alike: Any


def _member(asked: Asked) -> _Member | None:
    """Return what is to be evaluated; None where that is done, or can be done for a case alone."""
    case = asked.case
    if not 0 < case.elements <= KEPT:
        return None
    evaluation = evaluation_of(asked)
    numbers, rule = evaluation.numbers, asked.computed or evaluation.numbers.subject.of(case.hyper)
    if evaluation.begun or not isinstance(numbers.subject, RuleSubject) or not isinstance(rule, Rule):
        return None
    if rule.reads_shapes or type(training(rule, ())) is not Training:
        return None
    fields = [(field.name, getattr(rule, field.name)) for field in dataclasses.fields(rule)]
    chosen = tuple([(name, repr(value)) for name, value in fields if not isinstance(value, float)])
    kind = type(rule), chosen, evaluation.elementwise, numbers.form, numbers.narrow, numbers.combined
    return _Member(rule, evaluation, kind)


def _evaluate(group: Sequence[_Member]) -> None:
    """Evaluate what can be evaluated together."""
    evaluations = [member.evaluation for member in group]
    evaluated = side_by_side_evaluated(
        [x.case for x in evaluations],
        [member.rule for member in group],
        [x.numbers for x in evaluations],
        evaluations[0].elementwise,
    )
    for evaluation, (value, bound) in zip(evaluations, evaluated, strict=True):
        evaluation.fill(value, bound)
