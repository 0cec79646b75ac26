"""Finds three and four edits by stages: those that show where a hyperparameter is 0, then the others.

Of several edits some do nothing where there is no momentum or no decay. What explains a target there is a formula with
fewer edits, and starts another search for the rest, in all cases, which what is found must explain as any formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from optimetry.conformance.naming.budget import Budget
from optimetry.conformance.naming.fed import Runs
from optimetry.conformance.naming.nearby import Edits

Nearest = Callable[[Runs, int, Edits], list[list[Edits]]]
"""The classes of formulas with so many edits, beside some that are given, that are nearest to a target in some runs."""

STARTS = 2
"""From how many classes of a first stage two more edits are tried."""

MEMBERS = 4
"""How many formulas of each class one more edit is tried from: they differ where the hyperparameter is not 0."""


def by_stages(nearest: Nearest, runs: Runs, neutral: Iterable[Runs], budget: Budget) -> Iterator[list[list[Edits]]]:
    """Yield the classes of formulas with three edits or four that agree with a target, stage by stage.

    Args:
        nearest: the search of one stage.
        runs: what the target gave in the telling cases.
        neutral: what it gave with hyperparameters at 0, those of each set in turn.
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
