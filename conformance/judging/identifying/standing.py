"""A candidate for what a target computes, and how much of the runs so far it determines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Candidate
from optimetry.conformance.numerics.agreement import Agreement, answered, explained
from optimetry.conformance.numerics.arrays import Array

C = TypeVar("C", bound=Candidate)

LEAST_DETERMINED = 0.5
"""The share that an explanation must at least determine, of the elements that first contradict the document, and of the
numbers that the document determines."""


@dataclass(frozen=True)
class Standing(Generic[C]):
    """A candidate that explains every case so far.

    Attributes:
        candidate: which one.
        agreement: with the runs of these cases.
        determined: of the elements that first contradict the document, how many it determines.
        left_open: of the numbers that the document determines, how many it does not.
    """

    candidate: C
    agreement: Agreement = field(default_factory=Agreement)
    determined: int = 0
    left_open: int = 0

    def on(self, case: Case, after: Array, there: Array, numbers: Array) -> Standing[C] | None:
        """Return the same with one case more, None where the candidate does not explain it.

        Args:
            case: what the engine was fed.
            after: its trajectory.
            there: where an element first contradicts the document.
            numbers: where it is finite, and the document determines it.
        """
        oracle = self.candidate.expected(case)
        agreement = explained(after, oracle, case.form)
        if agreement is None:
            return None
        return Standing(
            self.candidate,
            self.agreement + agreement,
            self.determined + answered(after, oracle, there),
            self.left_open + int(np.count_nonzero(numbers & ~oracle.known)),
        )

    def tells(self, differing: int, numbers: int) -> bool:
        """Whether it determines most of the elements that first contradict the document, and most of those numbers.

        What is infinite wherever the target has numbers is within no bound, and would explain whatever they are.
        """
        return self.determined >= LEAST_DETERMINED * differing and self.left_open <= (1 - LEAST_DETERMINED) * numbers
