"""Finds three and four edits by stages: those that show where a hyperparameter is 0, then the others.

Where there is no momentum or no decay, some of several edits have no effect, and fewer edits explain the target. These
formulas start another search for the remaining edits, in all cases: the result must explain each, as any formula must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.fed import Runs
from optimetry.conformance.naming.search.nearby import Edits

Nearest = Callable[[Runs, int, Edits], list[list[Edits]]]
"""Returns the classes of formulas nearest to a target in some runs, with so many edits beside those passed."""

STARTS = 2
"""From how many classes of a first stage two more edits are tried."""

MEMBERS = 4
"""How many formulas of each class one more edit is tried from: they differ where the hyperparameter is not 0."""


def by_stages(nearest: Nearest, runs: Runs, neutral: Iterable[Runs], budget: Budget) -> Iterator[list[list[Edits]]]:
    """Yield the classes of formulas with three edits or four that agree with a target, stage by stage.

    Args:
        nearest: the search of one stage.
        runs: what the target gave in the telling cases.
        neutral: what it gave with the hyperparameters of each set in turn at 0.
        budget: what the search may cost.
    """
    for part in neutral:
        if not part or not budget.left() or nearest(part, 0, ()):
            continue  # not offered, or explained by the document: every edit is about those hyperparameters
        for first in (1, 2):
            classes = nearest(part, first, ())
            if first == 2:
                starts = chain.from_iterable(members[:MEMBERS] for members in classes)
                yield [members for start in starts if budget.left() for members in nearest(runs, 1, start)]
            for simplest, *_ in classes[:STARTS]:
                if budget.left():
                    yield nearest(runs, 2, simplest)
            if classes:
                break
