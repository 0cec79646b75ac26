"""A candidate that says nothing of most elements is dropped as soon as that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rules.sgd import SGD

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
    """But what says nothing of most numbers that the document determines explains nothing in the end."""
    candidate, seen = Vague(CASES), observed()
    assert seen.holding_on_all([candidate])[0] == []
    assert (seen.silent, len(candidate.asked)) == (set(), len(CASES))
    in_some, seen = Vague(CASES[:3]), observed()
    assert [alive for alive, _ in seen.holding_on_all([in_some])[0]] == [in_some]


class Losing:
    """A run of sgd that returns NaN for every element but the first."""

    def __init__(self, parameters: Sequence[Array]) -> None:
        self._run = run_of(SGD(), parameters)

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        after = self._run.step(grads, learning_rate)
        return [np.where(np.arange(array.size).reshape(array.shape) > 0, np.nan, array) for array in after]


@dataclass(frozen=True, eq=False)
class Lost(Vague):
    """What such a run gives: there is no bound of NaN."""

    def expected(self, case: Case) -> Expected:
        known, first = expected(case), flat([np.arange(param.size) == 0 for param in case.parameters])
        return Expected(np.where(first, known.value, np.nan), np.where(first, known.bound, np.inf), known.start)


def test_where_the_target_has_lost_its_numbers_an_explanation_need_not_have_any() -> None:
    target = Instead(lambda rule, parameters: Losing(parameters), "sgd")
    seen = Observed(target, lambda: iter(CASES), Guard(), Probed("sgd", "float32", ()))
    candidate = Lost([])
    assert [alive for alive, _ in seen.holding_on_all([candidate])[0]] == [candidate]
