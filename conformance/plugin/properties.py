"""Tests engines with cases drawn by Hypothesis' own engine, which shrinks them to the simplest that fails.

How many it draws is chosen by a profile: ``dev``, ``ci`` or ``thorough``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, example, given, settings

from optimetry.conformance.cases.case import Case, met_before, replayed
from optimetry.conformance.cases.strategies import cases
from optimetry.conformance.harness.python_harness import engine_name
from optimetry.conformance.judging.counterexamples.script import script
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

_COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True)

PROFILES: dict[str, settings] = {
    "dev": settings(_COMMON, max_examples=10, derandomize=True),
    "ci": settings(_COMMON, max_examples=40, derandomize=True),
    "thorough": settings(_COMMON, max_examples=1000),
}
"""Settings by profile name; those of ``dev`` and ``ci`` draw the same cases each time."""

OF_EFFORT = {"quick": "dev", "standard": "ci", "thorough": "thorough"}
"""The profile that goes with each effort of a seeded judgement."""


class Nonconformity(AssertionError):
    """An engine does not compute what is documented; the text gives the verdict and the counterexample.

    Attributes:
        case: the case that shows it, where one was tried.
    """

    def __init__(self, text: str, case: Case | None = None) -> None:
        super().__init__(text)
        self.case = case


def hold_property(
    engines: Sequence[Target], subject: Subject, dtype: str, profile: settings, arithmetic: Arithmetic = PLAIN
) -> None:
    """Compare engines with the documented formula on cases that Hypothesis draws, and on replayed ones.

    Args:
        engines: what is tested, all on the same cases; those that one does not offer are left out for it.
        subject: the rule or wrapper.
        dtype: a judged dtype's name.
        profile: how many cases.
        arithmetic: how the formula may be computed.

    Raises:
        Nonconformity: on the simplest case found, with a standalone script.
        TargetFault: an engine breaks the protocol.
    """
    explanation = Explanation(documented_class(subject.name), arithmetic)

    @profile
    @given(drawn=cases(subject, dtype))
    def compute_the_documented_formula(drawn: Case) -> None:
        for engine in engines:
            _compare(engine, met_before(limits_of(engine, subject.name).offered(drawn)), explanation)

    for case in replayed(subject.name, dtype):
        compute_the_documented_formula = example(case)(compute_the_documented_formula)
    compute_the_documented_formula()


def _compare(engine: Target, case: Case, explanation: Explanation) -> None:
    """Compare one engine with a formula on one case, if it offers that."""
    if reason_unsupported(engine, case) is not None:
        return
    after, oracle = trajectory(engine, case, Guard()), explanation.expected(case)
    agreement = compare(after, oracle, case.form)
    if not agreement.conforms:
        who = f"{engine.name} {engine.version}, engine {engine_name(engine)}"
        title = f"{who} on {case.optimizer} in {case.dtype}."
        shown = script(case, after, oracle, title=title, target=engine.name)
        summary = f"{who}: {case.optimizer} in {case.dtype}: {agreement.share:.3g} times what rounding explains"
        text = f"{summary}\ncounterexample, a standalone script:\n\n{shown}" if shown else summary
        raise Nonconformity(text, case)
