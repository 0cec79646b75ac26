"""Explains a target that rounds everything to a narrower format than its arrays': as a target of that format.

Fed numbers of the narrower format, it returns what a target of that format would. So mistakes and formulas are looked
for there, where bounds are as wide as its rounding errors. What is found must explain every case in the wider dtype.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.counterexamples import evidence
from optimetry.conformance.judging.identifying.first_mistake import LEAST_EXPLAINED
from optimetry.conformance.judging.identifying.identify import fits, narrower_than
from optimetry.conformance.judging.identifying.observed import Identity, Observed, no_more
from optimetry.conformance.judging.identifying.partial_explanations import in_parts
from optimetry.conformance.judging.identifying.searching import SearchResult, searched
from optimetry.conformance.naming.candidates import FLUSHED
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.numerics.agreement import first_beyond
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Hyper, Run, Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

SEED, DRAWN = 0, 24
"""The seed and the number of cases drawn in the narrower format; those in the wider one decide."""


class InFormat:
    """A target of a narrower format, which feeds the same numbers in a wider one to another target.

    Args:
        target: the other target, whose limits this one shares.
        dtype: the wider dtype, which the other is fed.
        guard: what watches over its runs.
    """

    def __init__(self, target: Target, dtype: str, guard: Guard) -> None:
        self.name, self.version = target.name, target.version
        self._target, self._dtype, self._guard = target, dtype, guard
        for offered in ("cannot", "pinned", "at_most", "start_wrapper"):
            if hasattr(target, offered):
                setattr(self, offered, getattr(target, offered))

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Run:
        """Begin a run of the other target, on arrays in its own dtype; for judging, `run_whole` takes its place."""
        return self._target.start(optimizer, hyper, parameters)

    def declines(self, case: Case) -> str | None:
        """Return why the other does not offer a case, None where it does."""
        return reason_unsupported(self._target, self._wide(case))

    def run_whole(self, case: Case, fresh: Sequence[int] = ()) -> Array:
        """Let the other play a case; what it returns is rounded to the format, in which it should be already."""
        after = trajectory(self._target, self._wide(case), self._guard, fresh=fresh)
        return after.astype(case.form.dtype)

    def _wide(self, case: Case) -> Case:
        """Return a case in the wider dtype, with the same numbers."""
        dtype = FORMATS[self._dtype].dtype
        return case.each(lambda array: array.astype(dtype)).replace(dtype=self._dtype)


@dataclass(frozen=True)
class Narrower:
    """What is known of an engine that seems to compute in a narrower format.

    Attributes:
        observed: the engine.
        format: the narrower format's name.
    """

    observed: Observed
    format: str

    @classmethod
    def of(cls, observed: Observed, rejected: tuple[Case, Array]) -> Narrower | None:
        """Return this for an engine whose results in the probes and the rejected case fit such a format, else None."""
        narrower = narrower_than(observed.probed, rejected)
        return None if narrower is None else cls(observed, narrower)

    def mistaken(self) -> tuple[Mistaken, Identity] | None:
        """Find a mistake, of the adapter or of the run, that explains every case.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        mistaken, _ = in_parts(self._there(), laws=()) or (None, None)
        if not isinstance(mistaken, Mistaken):
            return None
        more = mistaken.mistake.shown_by or no_more
        for arithmetic in (PLAIN, FLUSHED):
            wide = mistaken.computed_in(dataclasses.replace(arithmetic, computed_in=self.format))
            alive, unexplained = self.observed.holding_on_all([wide], more, LEAST_EXPLAINED)
            if alive:
                return (wide, unexplained) if fits(self.observed, self.format) else None
        return None

    def searched(self, seconds: float) -> SearchResult | None:
        """Search for a formula that explains every case; None where none is found.

        Args:
            seconds: as for `searching.searched`.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        result = searched(self._there(), seconds)
        for formula in result.formulas:
            arithmetic = dataclasses.replace(formula.arithmetic, computed_in=self.format)
            wide = dataclasses.replace(formula, arithmetic=arithmetic)
            identity = self.observed.holding(wide.explanation)
            if identity is not None and fits(self.observed, self.format):
                return dataclasses.replace(result, formulas=(wide,), identity=identity)
        return None

    def shown(self) -> dict[str, Any]:
        """Return a verdict's field: a counterexample to the document in the narrower format, too; empty without one.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        target, guard = self.observed.target, self.observed.guard
        rounded = Explanation(documented_class(self.observed.optimizer), Arithmetic(computed_in=self.format)).expected
        for case in self.observed.offered(self.observed.cases()):
            after = self.observed.run_anew(case)
            if first_beyond(after, rounded(case)) is not None:
                return {"counterexample": evidence.of_difference(target, case, after, guard, also=[rounded])}
        return {}

    def _there(self) -> Observed:
        """Observe the engine as a target of the narrower format, in probes and cases of that format."""
        optimizer, limits, guard = self.observed.optimizer, self.observed.limits, self.observed.guard
        target = InFormat(self.observed.target, self.observed.dtype, guard)
        return Observed.of(target, optimizer, self.format, partial(_drawn, optimizer, self.format, limits), guard)


def _drawn(optimizer: str, dtype: str, limits: Limits) -> Iterator[Case]:
    return map(limits.offered, drawn_cases(subject_named(optimizer), dtype, seed=SEED, count=DRAWN, limits=limits))
