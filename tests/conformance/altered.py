"""What rules give in a case with a mistake of the run, found by its words."""

from __future__ import annotations

from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.subjects.registry import SUBJECTS


def after(words: str, case: Case) -> list[Any]:
    """Return the parameters after the last step, by each way to compute what the words say."""
    mistakes = (mistake for tier in mistakes_of_runs(SUBJECTS[case.optimizer], case.dtype) for mistake in tier)
    mistaken = [Mistaken(Explanation(documented_class(case.optimizer)), mistake) for mistake in mistakes]
    return [x.expected(case).value[-1] for x in mistaken if str(x.part) == f"documented, but {words}"]


def with_mistake(mistake: Mistake, case: Case) -> Any:
    """Return the trajectory of the documented rule with a mistake, shape (steps, elements)."""
    return Mistaken(Explanation(documented_class(case.optimizer)), mistake).expected(case).value
