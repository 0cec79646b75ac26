"""Judges every target of which it is known what it computes, in processes of their own, one for each core.

They are the faults, classes of equal members of a family, and honest equivalents of the documented rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeVar

from tqdm import tqdm

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.known.points import PointClass, classes_of
from optimetry.conformance.selftest.equivalents import styled_targets
from optimetry.conformance.selftest.faults import FAULTS, Fault
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

HALF_QUICK = Effort("half of quick", EFFORTS["quick"].cases // 2, EFFORTS["quick"].law_cases)
"""What must be enough to reject a fault: the first half of the cases of ``--effort quick``."""

FOUR_CASES = Effort("few", 4, 1)
"""The ordinary cases of a fault that only large cases show: they decide nothing."""

QUARTER_QUICK = Effort("a quarter of quick, without laws", EFFORTS["quick"].cases // 4, 0)
"""The effort that measures the error ratios of equivalents; another test holds them to the laws."""

DTYPES = ("float32", "float64")
"""The dtypes in which members must be named, and equivalents conform."""

LARGEST = 32
"""The most unnamed classes of a family that are tried; of more, every second, third, … is."""


@dataclass(frozen=True)
class KnownVerdicts:
    """The verdicts on all of them.

    Attributes:
        faults: by the fault's name and the dtype.
        members: by the subject, the name of an unnamed class, and the dtype.
        equivalents: by the rule and the dtype, then by the style that computes it.
    """

    faults: Mapping[tuple[str, str], Verdict]
    members: Mapping[tuple[str, str, str], Verdict]
    equivalents: Mapping[tuple[str, str], Mapping[str, Verdict]]

    @classmethod
    def of_this_code(cls) -> KnownVerdicts:
        """Judge them all."""
        faults = [(fault.name, dtype) for fault in FAULTS.values() for dtype in fault.dtypes]
        members = [(rule, member.name, dtype) for rule in FAMILIES for member in unnamed(rule) for dtype in DTYPES]
        rules = [(rule, dtype) for rule in RULES for dtype in DTYPES]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
            return cls(
                dict(_judged(processes, _fault, faults)),
                dict(_judged(processes, _member, members)),
                dict(_judged(processes, _equivalents, rules)),
            )


K = TypeVar("K")
V = TypeVar("V")


def _judged(processes: ProcessPoolExecutor, judged_one: Callable[[K], V], keys: Sequence[K]) -> Iterator[tuple[K, V]]:
    """Yield each key with its verdict, in order."""
    what = judged_one.__name__.strip("_")
    return zip(keys, tqdm(processes.map(judged_one, keys), what, len(keys), disable=None), strict=True)


def _fault(key: tuple[str, str]) -> Verdict:
    name, dtype = key
    return judged(FAULTS[name], dtype)


def _member(key: tuple[str, str, str]) -> Verdict:
    optimizer, name, dtype = key
    return member_verdict(next(member for member in unnamed(optimizer) if member.name == name), dtype)


def _equivalents(key: tuple[str, str]) -> dict[str, Verdict]:
    return equivalents(*key, QUARTER_QUICK)


def judged(fault: Fault, dtype: str, effort: Effort | None = None, search: float | None = 0.0) -> Verdict:
    """Return the verdict on a fault; by default on few cases, the large ones that show it among them."""
    effort = effort or (dataclasses.replace(FOUR_CASES, scales=fault.scales) if fault.scales else HALF_QUICK)
    target = fault.target()
    engines = engines_of(target)
    guard = Guard(fault.time_limit)
    verdicts = judge(engines, fault.optimizer, dtype, effort=effort, seed=0, guard=guard, search=search)
    return verdicts[engines.index(target)]


def member_verdict(member: PointClass, dtype: str) -> Verdict:
    """Return the verdict on a class of a family."""
    (verdict,) = judge([computing(member)], member.optimizer, dtype, effort=HALF_QUICK, seed=0)
    return verdict


def unnamed(optimizer: str) -> Sequence[PointClass]:
    """Return the unnamed classes of a family, or at most `LARGEST` of them, evenly chosen."""
    members = [member for member in classes_of(optimizer) if not member.documented and member.dialect is None]
    return members[:: -(-len(members) // LARGEST) or 1]


def equivalents(optimizer: str, dtype: str, effort: Effort) -> dict[str, Verdict]:
    """Return the verdict on every style that computes a rule in its own way, by the style's name."""
    verdicts = judge(styled_targets(optimizer), optimizer, dtype, effort=effort, seed=0)
    return {verdict.engine: verdict for verdict in verdicts}
