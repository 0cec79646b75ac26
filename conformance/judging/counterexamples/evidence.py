"""Makes counterexamples: small cases, and scripts that show the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.judging.broken import Broken
from optimetry.conformance.judging.counterexamples.script import Ran, script, script_of_law
from optimetry.conformance.laws.law import Difference
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare, first_beyond
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetEnded, TargetFault, TargetHung

T = TypeVar("T")


def of_difference(
    target: Target,
    case: Case,
    after: Array,
    guard: Guard,
    nearest: PointClass | None = None,
    also: Sequence[Callable[[Case], Expected]] = (),
) -> dict[str, Any]:
    """Shrink a rejected case to a small counterexample, with a script that shows it.

    Args:
        target: the rejected target.
        case: what it was fed.
        after: its trajectory, which it may not return again.
        guard: what watches over its runs.
        nearest: the nearest rule, where none explains the target; if the case contradicts it, too, so does the
            counterexample.
        also: other formulas that the case contradicts, and the counterexample must.
    """
    oracles = [expected, *also]
    if nearest is not None and first_beyond(after, Explanation(nearest).expected(case)) is not None:
        oracles.append(Explanation(nearest).expected)

    def contradicting(smaller: Case) -> Array | None:
        if reason_unsupported(target, smaller) is not None:
            return None
        results = trajectory(target, smaller, guard)
        shown = all(first_beyond(results, oracle(smaller)) is not None for oracle in oracles)
        return results if shown else None

    steps = 1 + max(first_beyond(after, oracle(case)) or 0 for oracle in oracles)
    small, after = _smallest(case.upto(steps), after[:steps], contradicting)
    oracle = expected(small)
    name = f"{target.name} {target.version}"
    title = f"{name} on {small.optimizer} in {small.dtype}."
    return {
        **located(small, after, oracle, compare(after, oracle, small.form)),
        **_distance(small, after, nearest),
        "script": script(small, after, oracle, title=title, target=name),
    }


def located(case: Case, after: Array, oracle: Expected, compared: Agreement) -> dict[str, Any]:
    """Return the case of a counterexample, and the numbers where its error ratio is largest, for a JSON object."""
    assert compared.worst is not None
    step, element = compared.worst
    return {
        "case": case.to_json(),
        "step": step + 1,
        "element": element,
        "given": repr(after[step, element].item()),
        "documented": str(oracle.value[step, element]),
        "bound": float(oracle.bound[step, element]),
        "share": compared.share,
    }


def _distance(case: Case, after: Array, rule: PointClass | None) -> dict[str, Any]:
    """Return how far a run is from the nearest rule, for a JSON object; nothing where its bound is not finite."""
    if rule is None:
        return {}
    oracle = Explanation(rule).expected(case)
    far = compare(after, oracle, case.form)
    step, element = far.worst or (0, 0)
    bound = float(oracle.bound[step, element])
    numbers = {
        "rule": rule.name,
        "step": step + 1,
        "element": element,
        "expected": str(oracle.value[step, element]),
        "bound": bound,
        "share": far.share,
        "ulp": far.ulp,
    }
    return {"nearest": numbers} if np.isfinite(bound) else {}


def of_broken_law(target: Target, broken: Broken, guard: Guard) -> dict[str, Any]:
    """Shrink the case of a broken law; the script shows the runs that the law compares, where it compares numbers."""
    law = broken.law

    def contradicting(smaller: Case) -> tuple[str, list[Ran]] | None:
        trial = broken.trial(target, smaller, guard)
        contradiction = law.broken(trial)
        return None if contradiction is None else (contradiction, list(trial.ran))

    small, shown = broken.case, (broken.contradiction, list[Ran]())
    if not law.slow:
        small, shown = _smallest(small, contradicting(small) or shown, contradicting, budget=100)
    contradiction, ran = shown
    name = f"{target.name} {target.version}"
    text = None
    if isinstance(contradiction, Difference):
        text = script_of_law(
            contradiction,
            ran or ([] if law.slow else [(small, None)]),  # a slow law has cases of its own
            dtype=small.dtype,
            title=f"{name} on {small.optimizer} in {small.dtype} breaks the law `{law.name}`.",
            about=f"The law: {law.statement}. The table compares the two sides that must agree by it.",
        )
    return {"case": small.to_json(), "law": law.name, "found": str(contradiction), "script": text}


def of_fault(target: Target, fault: TargetFault, case: Case, guard: Guard) -> dict[str, Any]:
    """Shrink the case of a fault against the protocol; one that ends the process or hangs is not repeated."""

    def repeated(smaller: Case) -> TargetFault | None:
        try:
            if reason_unsupported(target, smaller) is not None:
                return None
            hold_contents(target, smaller, guard)
        except TargetFault as again:
            return None if isinstance(again, TargetHung | TargetEnded) else again
        return None

    small, output = case, fault.output
    if not isinstance(fault, TargetHung | TargetEnded) and repeated(case):
        small, shown = _smallest(case, fault, repeated)
        output = shown.output
    return {"case": small.to_json(), "script": None, **({"output": output} if output else {})}


def _smallest(case: Case, shown: T, shows: Callable[[Case], T | None], **limits: int) -> tuple[Case, T]:
    """Shrink a case while its run shows a fault; return the smallest with what that very run showed.

    Args:
        case: the case to shrink.
        shown: what its run showed.
        shows: runs a smaller case and returns what that run shows, None where it shows no fault.
        limits: as for `shrunk`.
    """

    def fails(smaller: Case) -> bool:
        nonlocal shown
        try:
            outcome = shows(smaller)
        except TargetFault:
            return False
        shown = shown if outcome is None else outcome
        return outcome is not None

    subject = subject_of(case)
    return shrunk(case, fails, subject.hyperparameters(), **limits, shaped=subject.shaped), shown
