"""Lists what may explain one side of a split: the rule, its dialects, rules that are near, or no update at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import documented_class, named_classes
from optimetry.conformance.naming.splits import Side
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.formats import flushing
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule
from optimetry.reference.rules import RULES


@dataclass(frozen=True)
class Neighbour:
    """Another documented rule, whose hyperparameters are among those of the case."""

    rule: type[Rule]
    flushes: bool = False

    @property
    def name(self) -> str:
        """The name of the rule."""
        return self.rule.name

    def expected(self, case: Case) -> Expected:
        """Return what the rule gives."""
        names = {declared.name for declared in self.rule.hyperparameters()}
        computed = self.rule.of({name: value for name, value in case.hyper.items() if name in names})
        return expected(case, computed, flushing(case.form) if self.flushes else None)


@dataclass(frozen=True)
class Unchanged:
    """No update: every parameter keeps its bits."""

    name: str = "no update"

    def expected(self, case: Case) -> Expected:
        """Return the parameters, exactly, after every step."""
        start = flat(case.parameters).astype(case.form.wide)
        value = np.repeat(start[None], len(case.grads), axis=0)
        return Expected(value, np.zeros_like(value), np.abs(start).astype(np.float64))


@cache
def sides(subject: Subject, dtype: str, arithmetic: Arithmetic) -> tuple[Side, ...]:
    """Return what may explain one side of a split, the nearest to the document first."""
    classes = [documented_class(subject.name), *named_classes(subject.name)]
    found: list[Side] = [Explanation(one, arithmetic) for one in classes]
    if subject.has_learning_rate:
        given = {declared.name for declared in subject.hyperparameters()}
        near = [
            rule
            for rule in RULES.values()
            if rule.name != subject.name and all(x.name in given or x.kind is bool for x in rule.hyperparameters())
        ]
        found += [Neighbour(rule, arithmetic.flushes_subnormals) for rule in near]
        found.append(Unchanged())
    return tuple(found)
