"""From a target that differs to the difference: which rule, which numbers, or only rounding.

The verdict is the judge's, on the probes and on drawn cases. What stands beside it comes from the probes: how far the
target is from every class of its family, and where it first leaves the nearest one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.divergence import Divergence, first_divergence
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.points import PointClass, classes_of
from optimetry.conformance.naming.probes import Probed, probes_of
from optimetry.conformance.naming.rounding import NONE_ROUNDED, Rounded, rounded_numbers
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected, with_underflow_room
from optimetry.conformance.targets.protocol import Target, engines_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Verdict

PORTION = 8
"""A diagnosis confirms its finding on one drawn case where `check` takes this many: the probes do the telling apart."""

LONGEST = 8
"""The most steps that such a case has."""

SHAPES = ((17,), (1,), ())
"""The shapes that tensors of such a case have."""

PROBES_ALONE = Effort("none drawn", 0, 0)

WORDS = {
    "float32": "numbers held in float32",
    "flushed": "subnormals flushed to zero",
    "incremental_moments": "moving averages formed as increments",
}
"""What the parts of a verdict's dialect mean that say how a rule is computed, not which."""


@dataclass(frozen=True)
class Diagnosis:
    """What is known of one engine of a target, for one rule in one dtype.

    Attributes:
        verdict: the judge's, on the probes and on drawn cases.
        found: the class of rules that explains the target on every case, the documented one included; None where
            nothing does.
        causes: why it is not the documented rule bit for bit: ``rounding``, or ``another rule``, or parts of `WORDS`.
        rounded: the numbers that are held in float32.
        ranking: every class of the family with the target's agreement in the probes, the nearest first.
        probed: what the target gave in the probes, None where it was not asked.
        divergence: where the target first leaves the nearest class, if nothing explains it.
        in_float32: whether, beside float64, the nearest class in float32 arithmetic explains the probes.
    """

    verdict: Verdict
    found: PointClass | None = None
    causes: tuple[str, ...] = ()
    rounded: Rounded = NONE_ROUNDED
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
        """The class with the smallest share, None where no probe was run."""
        return self.ranking[0][0] if self.ranking else None

    @property
    def next_best(self) -> tuple[PointClass, Agreement] | None:
        """The nearest class that is not the one found."""
        return next(((one, share) for one, share in self.ranking if one is not self.found), None)


def confirming_cases(optimizer: str, dtype: str, effort: Effort, seed: int) -> list[Case]:
    """The drawn cases of a diagnosis: the first that are short, with tensors of few shapes.

    Slow targets are told soon then: compilers take their time for each shape.
    """
    drawn = drawn_cases(optimizer, dtype, seed=seed, count=effort.cases)
    short = (case for case in drawn if len(case.grads) <= LONGEST)
    common = ((case, [i for i, param in enumerate(case.parameters) if param.shape in SHAPES]) for case in short)
    return list(islice((case.only(tensors) for case, tensors in common if tensors), effort.cases // PORTION))


def diagnose(
    target: Target,
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    heartbeat: Callable[[], None] = lambda: None,
    time_limit: float = 60.0,
) -> list[Diagnosis]:
    """One diagnosis for each engine of the target; the arguments are those of `judge`."""
    guard = Guard(time_limit, heartbeat)
    verdicts = judge(
        target,
        optimizer,
        dtype,
        effort=PROBES_ALONE,
        seed=seed,
        heartbeat=heartbeat,
        time_limit=time_limit,
        before=[*probes_of(optimizer, dtype), *confirming_cases(optimizer, dtype, effort, seed)],
    )
    return [_diagnosis(engine, verdict, guard) for engine, verdict in zip(engines_of(target), verdicts, strict=True)]


def _diagnosis(target: Target, verdict: Verdict, guard: Guard) -> Diagnosis:
    if verdict.verdict in ("unsupported", "error"):
        return Diagnosis(verdict)
    try:
        probed = Probed.of(target, verdict.optimizer, verdict.dtype, guard)
        verdict = _lawful(verdict, target, probed, guard)
        known = Diagnosis(verdict, ranking=tuple(probed.agreements()), probed=probed)
        if verdict.verdict == "diverges":
            found_at = _divergence(target, known, guard)
            return dataclasses.replace(known, divergence=found_at, in_float32=_in_float32(known))
        found, causes = explanation(verdict)
        rounded = rounded_numbers(target, verdict.optimizer, found.rule, guard) if "float32" in causes else NONE_ROUNDED
    except TargetFault as fault:
        return Diagnosis(dataclasses.replace(verdict, verdict="error", dialect=None, reason=str(fault)))
    return dataclasses.replace(known, found=found, causes=causes, rounded=rounded)


def _lawful(verdict: Verdict, target: Target, probed: Probed, guard: Guard) -> Verdict:
    """The verdict, or that the target breaks a law which holds for every rule."""
    for case, _ in probed.cases[:1]:
        for law in LAWS.values():
            found = law.broken(target, case, guard) if law.universal else None
            if found is not None:
                reason = f"breaks a law: {law.statement} ({law.name}: {found})"
                return dataclasses.replace(verdict, verdict="diverges", dialect=None, reason=reason)
    return verdict


def explanation(verdict: Verdict) -> tuple[PointClass, tuple[str, ...]]:
    """The class that a verdict names, and what else it names: a dialect's name is followed by plus signs and ways."""
    classes = {one.name: one for one in classes_of(verdict.optimizer)}
    name, ways = verdict.dialect or "", list[str]()
    while name.rpartition("+")[2] in WORDS and "+" in name:  # an axis may have the value t+1
        name, _, way = name.rpartition("+")
        ways.insert(0, way)
    if name in classes:
        return classes[name], ("another rule", *ways)
    alone = [word for word in WORDS if word in name]  # float32_epsilon, flushed_subnormals: the documented rule
    return next(iter(classes.values())), (*alone, *ways) if verdict.dialect else ("rounding",)


def _in_float32(known: Diagnosis) -> bool:
    """Whether float64 results are what the nearest class may have in float32 arithmetic, and no better."""
    nearest, probed = known.nearest, known.probed
    if known.verdict.dtype != "float64" or nearest is None or probed is None or known.ranking[0][1].conforms:
        return False
    single = with_underflow_room(FORMATS["float32"])
    return probed.explained_by(lambda case: expected(case, nearest.rule(case.hyper), single))


def _divergence(target: Target, known: Diagnosis, guard: Guard) -> Divergence | None:
    """Where the target first leaves the nearest class: in a probe, or else in the counterexample."""
    nearest = known.nearest or classes_of(known.verdict.optimizer)[0]
    cases: list[Case] = [case for case, _ in known.probed.cases] if known.probed else []
    counterexample: dict[str, Any] = known.verdict.counterexample or {}
    if "case" in counterexample:
        cases.append(Case.from_json(counterexample["case"]))
    for case in cases:
        found = first_divergence(target, case, nearest.rule(case.hyper), guard)
        if found is not None:
            return found
    return None
