"""Lists what may explain one side of a split.

That is the rule, its dialects, the rule with a hyperparameter held at a usual value (tensors without weight decay),
another documented rule that is near, or no update at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.adapters import usual_constants
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.splits import Side
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.formats import BOUND, flushing
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.subjects.subject import DECAY_STRENGTHS, Subject
from optimetry.reference.rule import Rule
from optimetry.reference.rules import RULES
from optimetry.reports.parts import HELD, Part

NO_DECAY = [{HELD: {name: 0.0}} for name in DECAY_STRENGTHS]
"""What is recorded of a side without weight decay."""


@dataclass(frozen=True)
class Neighbour:
    """Another documented rule, whose hyperparameters are among those of the case, with the same domains."""

    rule: type[Rule]
    flushes: bool = False
    narrow = False

    @property
    def part(self) -> Part:
        """What a verdict records of it."""
        return Part(self.rule.name)

    def expected(self, case: Case) -> Expected:
        """Return what the rule gives."""
        (asked,) = self.asks(case)
        return expected(*asked)

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield what the oracle is asked for by `expected`."""
        names = {declared.name for declared in self.rule.hyperparameters()}
        computed = self.rule.of({name: value for name, value in case.hyper.items() if name in names})
        yield Asked(case, computed, flushing(case.form) if self.flushes else None)


@dataclass(frozen=True)
class Unchanged:
    """No update: every parameter keeps its bits."""

    narrow = False

    @property
    def part(self) -> Part:
        """What a verdict records of it."""
        return Part("no update")

    def expected(self, case: Case) -> Expected:
        """Return the parameters, exactly, after every step."""
        start = flat(case.parameters).astype(case.form.wide)
        value = np.repeat(start[None], len(case.grads), axis=0)
        return Expected(value, np.zeros(value.shape, BOUND), np.abs(start).astype(np.float64))

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield nothing, as there is nothing to evaluate."""
        return iter(())


@cache
def pairs_of_sides(subject: Subject, arithmetic: Arithmetic) -> list[tuple[Side, Side]]:
    """Return what may explain the two sides of a split: two rules of the family, or the documented one and another.

    Of a rule with a weight decay, one side may also be any rule of the family without it: vectors are often left out.
    """
    classes = [documented_class(subject.name), *named_classes(subject.name)]
    family = [Explanation(rule_class, arithmetic) for rule_class in classes]
    documented = Explanation(classes[0], arithmetic)
    others: list[Side] = [Mistaken(documented, mistake) for mistake in usual_constants(subject)]
    if subject.has_learning_rate:
        domains = {declared.name: str(declared.domain) for declared in subject.hyperparameters()}
        others += [
            Neighbour(rule, arithmetic.flushes_subnormals)
            for rule in RULES.values()
            if rule.name != subject.name
            and all(domains.get(x.name) == str(x.domain) or x.kind is bool for x in rule.hyperparameters())
        ]
        others.append(Unchanged())
    without_decay = [
        Mistaken(Explanation(rule_class, arithmetic), mistake)
        for rule_class in classes
        for mistake in usual_constants(subject)
        if mistake.given in NO_DECAY
    ]
    # The same rule without its decay says most, then the documented one.
    without = sorted(product(family, without_decay), key=lambda pair: pair[0].rule != pair[1].rule)
    return [*combinations(family, 2), *((family[0], other) for other in others), *without]
