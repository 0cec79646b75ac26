"""Judges the engines of a target: tries laws, cases and probes on each, and returns one verdict for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from optimetry.conformance.cases.case import Case, replayed
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import large_plans
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.judging.examination import Examination
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.oracle.batched import evaluated_ahead
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.subjects.rare import rare_cases
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, recorded_cases
from optimetry.conformance.targets.session import Guard, runs_ahead, taken_ahead
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Verdict


def judge(
    engines: Sequence[Target],
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    guard: Guard | None = None,
    before: Sequence[Case] = (),
    search: float | None = 0.0,
) -> list[Verdict]:
    """Return one verdict for each engine; never raises, whatever an engine does. Arguments as for `examined`."""
    with default_environment():  # a library may have changed how this process computes
        examinations = examined(
            engines, optimizer, dtype, effort=effort, seed=seed, guard=guard, before=before, search=search
        )
        return [examination.verdict() for examination in examinations]


def examined(
    engines: Sequence[Target],
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    guard: Guard | None = None,
    before: Sequence[Case] = (),
    search: float | None = 0.0,
) -> list[Examination]:
    """Try every case on every engine, until more cases can change nothing.

    Args:
        engines: what is judged, each on the same cases if they offer the same.
        optimizer: the name of a subject: a rule or a wrapper.
        dtype: a judged dtype's name.
        effort: how many cases.
        seed: the seed of the cases; the same seed gives the same verdicts.
        guard: what watches over each run.
        before: cases that are tried before those drawn.
        search: as for `Examination`.

    Raises:
        UnknownOptimizerError: no such subject.
    """
    subject = subject_named(optimizer)
    recorded, faults = list[Case](), dict[int, TargetFault]()
    for place, engine in enumerate(engines):
        try:
            recorded += recorded_cases(engine, optimizer, dtype)
        except TargetFault as fault:
            faults[place] = fault

    def cases(limits: Limits) -> Iterator[Case]:
        drawn = drawn_cases(subject, dtype, seed=seed, count=effort.cases, limits=limits)
        return map(limits.offered, chain(before, recorded, drawn))

    plans = list(large_plans(subject, dtype, effort.scales, seed))
    alike: dict[Limits, list[Examination]] = {}
    examinations = []
    for place, engine in enumerate(engines):
        limits = limits_of(engine, optimizer)
        examination = Examination(
            engine, optimizer, dtype, partial(cases, limits), guard or Guard(), effort.law_cases, search, plans
        )
        examination.laws.engines = engines
        if place in faults:
            examination.fault = faults[place], next(cases(limits))
        examinations.append(examination)
        alike.setdefault(limits, []).append(examination)
    for limits, members in alike.items():
        _try_cases(members, cases(limits), effort.law_cases)
        further = map(limits.offered, chain(replayed(optimizer, dtype), rare_cases(subject, dtype)))
        _try_probes(members, chain(further, probes_of(optimizer, dtype, limits)))
    return examinations


def _try_cases(examinations: Sequence[Examination], cases: Iterable[Case], law_cases: int) -> None:
    """Try every case on engines that offer the same, until more cases can change nothing."""

    def asked(case: Case) -> list[Asked]:
        return [Asked(case)] if any(taken_ahead(each.target, case) for each in examinations) else []

    evaluated = evaluated_ahead(cases, asked)
    for number, case in enumerate(runs_ahead(evaluated, lambda: [x.target for x in examinations if not x.settled])):
        trying = [examination for examination in examinations if examination.takes(case)]
        if number < law_cases:
            for examination in trying:
                examination.try_laws(case)
        trying = [examination for examination in trying if not examination.settled]
        if trying:
            oracle = expected(case)
            for examination in trying:
                examination.hold_against(case, oracle)
        if all(examination.settled for examination in examinations):
            break


def _try_probes(examinations: Sequence[Examination], probes: Iterable[Case]) -> None:
    """Try kept cases, rare ones and probes on engines that no other case has shown to differ."""
    for probe in probes:
        for examination in examinations:
            if examination.takes(probe):
                examination.hold_against(probe, expected(probe), drawn=False)
