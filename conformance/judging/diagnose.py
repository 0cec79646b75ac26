"""Explains how a target differs from its document: which formula, computed how, or only rounding.

The verdict is the judge's, on the probes and on drawn cases. The probes add how far the target is from every class of
its family, and its first divergence from the nearest one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.divergence import Divergence, first_divergence
from optimetry.conformance.judging.examine import Examination, examined
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import PointClass, documented_class
from optimetry.conformance.naming.probes import Probed, probes_of
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected, with_underflow_room
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Verdict

PORTION = 8
"""A diagnosis draws one case where `check` draws this many: the probes separate the rules, cases only confirm."""

LONGEST = 8
"""The most steps that such a case has."""

SHAPES = ((17,), (1,), ())
"""The shapes that tensors of such a case have."""

LAWS_ALONE = Effort("none drawn", 0, 1)
"""No cases but those given, and the laws tried on the first."""


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one engine of a target, for one subject in one dtype.

    Attributes:
        verdict: the judge's, on the probes and on drawn cases.
        explanation: what explains the target on every case, the documented formula included; None where nothing does.
        ranking: every class of the family with the target's agreement in the probes, the nearest first.
        probed: the target's results in the probes, None where they were not run.
        divergence: the target's first divergence from the nearest class, if nothing explains it.
        in_float32: whether, beside float64, the nearest class in float32 arithmetic explains the probes.
    """

    verdict: Verdict
    explanation: Explanation | None = None
    ranking: tuple[tuple[PointClass, Agreement], ...] = ()
    probed: Probed | None = None
    divergence: Divergence | None = None
    in_float32: bool = False

    @property
    def drawn(self) -> int:
        """How many drawn cases the verdict rests on."""
        return self.verdict.cases - (len(self.probed.runs) if self.probed else 0)

    @property
    def nearest(self) -> PointClass | None:
        """The class with the smallest error ratio, None where no probe was run."""
        return self.ranking[0][0] if self.ranking else None


def confirming_cases(optimizer: str, dtype: str, effort: Effort, seed: int) -> list[Case]:
    """The drawn cases of a diagnosis: the first that are short, with tensors of few shapes; all where no probes are.

    Compilers, which take their time for each shape, have less to do then.
    """
    drawn = drawn_cases(subject_named(optimizer), dtype, seed=seed, count=effort.cases)
    if not probes_of(optimizer, dtype):
        return list(drawn)
    short = (case for case in drawn if len(case.grads) <= LONGEST)
    common = ((case, [i for i, param in enumerate(case.parameters) if param.shape in SHAPES]) for case in short)
    return list(islice((case.only(tensors) for case, tensors in common if tensors), effort.cases // PORTION))


def diagnose(
    engines: Sequence[Target], optimizer: str, dtype: str, *, effort: Effort, seed: int, guard: Guard | None = None
) -> list[Diagnosis]:
    """Return one diagnosis for each engine; the arguments are those of `judge`."""
    before = [*probes_of(optimizer, dtype), *confirming_cases(optimizer, dtype, effort, seed)]
    few = dataclasses.replace(LAWS_ALONE, scales=effort.scales)
    found = examined(engines, optimizer, dtype, effort=few, seed=seed, guard=guard, before=before)
    return [_diagnosis(examination) for examination in found]


def _diagnosis(examination: Examination) -> Diagnosis:
    verdict = examination.verdict()
    if verdict.verdict in ("unsupported", "error"):
        return Diagnosis(verdict)
    target, guard = examination.target, examination.guard
    try:
        probed = Probed.of(target, verdict.optimizer, verdict.dtype, guard)
        known = Diagnosis(verdict, examination.explanation, tuple(probed.agreements()), probed)
        if known.explanation is not None:
            return known
        found = _divergence(target, known, guard)
    except TargetFault as fault:
        return Diagnosis(dataclasses.replace(verdict, verdict="error", reason=str(fault)))
    return dataclasses.replace(known, divergence=found, in_float32=_in_float32(known))


def _in_float32(known: Diagnosis) -> bool:
    """Whether float64 results are no better than those of the nearest class in float32 arithmetic."""
    nearest, probed = known.nearest, known.probed
    if known.verdict.dtype != "float64" or nearest is None or probed is None or known.ranking[0][1].conforms:
        return False
    single = with_underflow_room(FORMATS["float32"])
    return probed.explained_by(lambda case: expected(case, nearest.of(case.hyper), single))


def _divergence(target: Target, known: Diagnosis, guard: Guard) -> Divergence | None:
    """Find the first divergence from the nearest class: in a probe, or else in the counterexample."""
    nearest = known.nearest or documented_class(known.verdict.optimizer)
    cases: list[Case] = [case for case, _ in known.probed.cases] if known.probed else []
    counterexample: dict[str, Any] = known.verdict.counterexample or {}
    if "case" in counterexample and "plan" not in counterexample:  # what goes wrong at a size alone goes right apart
        cases.append(Case.from_json(counterexample["case"]))
    for case in cases:
        found = first_divergence(target, case, nearest.of(case.hyper), guard)
        if found is not None:
            return found
    return None
