"""A candidate that says nothing of most elements is dropped as soon as that is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard

CASES = list(drawn_cases(subject_named("sgd"), "float32", seed=0, count=12))


@dataclass(frozen=True, eq=False)
class Vague:
    """The documented rule, which is said to be unbounded in some of the cases."""

    unbounded: list[Case]
    asked: list[Case] = field(default_factory=list)
    narrow: bool = False

    def asks(self, case: Case) -> Iterator[Asked]:
        return iter(())

    def expected(self, case: Case) -> Expected:
        if case not in self.asked:
            self.asked.append(case)
        known = expected(case)
        return (
            Expected(known.value, np.full_like(known.bound, np.inf), known.start) if case in self.unbounded else known
        )


def observed() -> Observed:
    return Observed(NumpyTarget(), lambda: iter(CASES), Guard(), Probed("sgd", "float32", ()))


def test_what_says_nothing_of_most_elements_is_dropped_before_the_last_case() -> None:
    candidate, seen = Vague(CASES), observed()
    assert seen.holding_on_all([candidate], judged=0.5)[0] == []
    assert seen.silent == {candidate}
    assert 0 < len(candidate.asked) < len(CASES)


def test_what_says_something_of_most_elements_is_asked_of_every_case() -> None:
    smallest = sorted(CASES, key=lambda case: case.elements)[:4]
    assert 0 < sum(case.elements for case in smallest) < 0.5 * sum(case.elements for case in CASES)
    candidate, seen = Vague(smallest), observed()
    ((alive, agreement),), _ = seen.holding_on_all([candidate], judged=0.5)
    assert (alive, seen.silent, len(candidate.asked)) == (candidate, set(), len(CASES))
    assert 0.5 < agreement.judged < 1


def test_nothing_is_dropped_where_no_part_is_asked_for() -> None:
    candidate, seen = Vague(CASES), observed()
    assert [alive for alive, _ in seen.holding_on_all([candidate])[0]] == [candidate]
    assert (seen.silent, len(candidate.asked)) == (set(), len(CASES))
