"""The suite rejects every faulty target, and says why."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.counterexamples.script import run_script
from optimetry.conformance.laws import LAWS
from optimetry.conformance.selftest.faults import (
    FAULTS,
    Fault,
    adapters,
    mutations,
    outcome,
    papers_mutations,
    rejected_by,
    torch_mutations,
)
from optimetry.conformance.selftest.faults.fault import enter
from optimetry.conformance.selftest.faults.mutations import mutant
from optimetry.conformance.selftest.known_targets import HALF_QUICK, judged
from optimetry.conformance.selftest.museum import exhibit
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reference.rules import rule_named
from optimetry.reports.results import Verdict
from tests.conformance.judged import assert_rejected
from tests.sample import place

EFFORT = Effort("twelve cases", cases=12, law_cases=1)
"""The first of the cases of docs/sensitivity.md: what rejects a fault here rejects it there."""

MOST_OF_HALF = replace(HALF_QUICK, cases=32, law_cases=1)
"""Enough for some of the faults below, in half the time."""

LATE = {
    "clipped_at_1000": HALF_QUICK,
    "corrections_combined_in_float32": MOST_OF_HALF,
    "decayed_once_a_dtype": HALF_QUICK,
    "infinity_replaced_by_the_largest_number": HALF_QUICK,
    "lookahead_around": HALF_QUICK,
    "nonfinite_gradient_is_missing": HALF_QUICK,
    "remembers_the_last_run": HALF_QUICK,
    "small_gradients_dropped": MOST_OF_HALF,
    "state_raises": HALF_QUICK,
    "step_in_three_parts": HALF_QUICK,
    "torch.adadelta_update_not_squared": HALF_QUICK,
    "torch.radam_correction_under_no_root": HALF_QUICK,
    "torch.radam_rectification_missing": HALF_QUICK,
    "torch.sgd_dampens_without_momentum": MOST_OF_HALF,
    "torch.sgd_step_count_global": MOST_OF_HALF,
    "torch.sgd_step_count_shared": MOST_OF_HALF,
    "zero_elements_rest": MOST_OF_HALF,
}
"""Faults that these cases do not reject, or name as less than they are, or of which later ones break more laws."""


def items() -> list[Any]:
    """All faults, each in one of its dtypes, ordered by rule and dtype: the oracle evaluates their cases once."""
    pairs = [(fault, "float32" if "float32" in fault.dtypes else fault.dtypes[0]) for fault in FAULTS.values()]
    ordered = sorted(pairs, key=lambda pair: (pair[0].optimizer, pair[1]))
    return [pytest.param(fault, dtype, id=f"{fault.name}-{dtype}") for fault, dtype in ordered]


@pytest.mark.whole
@pytest.mark.parametrize(("fault", "dtype"), items())
def test_a_fault_is_rejected_by_what_is_named(fault: Fault, dtype: str, pytestconfig: pytest.Config) -> None:
    """Each is rejected; of a part of the tests one in so many is named as well, and what is no case's to reject."""
    effort = None if fault.scales else LATE.get(fault.name, EFFORT)
    named = place(fault.name, pytestconfig.getoption("--one-in")) == 0
    if not named and effort and not fault.outcome.startswith("error") and len(engines_of(fault.target())) == 1:
        assert_rejected([fault.target()], fault.optimizer, dtype, effort)
        return
    verdict = judged(fault, dtype, effort, search=None if fault.outcome == "diverges" else 0.0)
    assert outcome(verdict) == fault.outcome, verdict.reason
    assert fault.because in verdict.reason
    assert rejected_by(verdict) == (fault.rejected_by or rejected_by(verdict)), verdict.reason
    hold_evidence(verdict)


def test_a_fault_of_a_dialect_that_is_not_known_cannot_begin() -> None:
    start = adapters._passing(lambda hyper, memory: {}, "no_such_dialect")
    with pytest.raises(ValueError, match="not enough values to unpack"):
        start(rule_named("adam").typical(), [], {})


def hold_evidence(verdict: Verdict) -> None:
    """A rejection that is no fault against the protocol has a script that shows it, of inputs that are not all zero."""
    shown = verdict.counterexample
    if verdict.verdict == "error" or shown is None:
        assert verdict.verdict in ("error", "conforms")
        return
    assert run_script(shown["script"]) > 0
    if shown["case"] == shown.get("plan"):
        return  # the choices from which a large case is drawn
    case = Case.from_json(shown["case"])
    gives_0_without_any_rounding = [str(shown.get(key)) for key in ("documented", "bound")] == ["0.0", "0.0"]
    of_zero = verdict.reason.startswith("returned NaN") or gives_0_without_any_rounding
    assert any(array.any() for array in case.arrays) or of_zero


@pytest.mark.parametrize(
    "name", ["kernel_chosen_by_the_run", "torch.nadam_schedule_one_step_behind", "column_order", "corrected_once"]
)
def test_no_formula_is_invented_where_none_explains(name: str) -> None:
    """Some of those that are not searched above, for a search in vain takes longest. docs/sensitivity.md has all."""
    assert outcome(judged(FAULTS[name], "float32")) == FAULTS[name].outcome == "diverges"


def test_there_are_faults_of_every_subject() -> None:
    assert len(FAULTS) >= 250
    assert {fault.optimizer for fault in FAULTS.values()} == set(SUBJECTS)


def test_every_law_and_every_check_of_the_protocol_rejects_a_fault() -> None:
    exhibit.load()
    planted = [*FAULTS.values(), *(shown.fault for shown in exhibit.EXHIBITS.values())]
    assert {fault.rejected_by for fault in planted} - {None} == {*LAWS, "oracle", "protocol"}
    reasons = [fault.because for fault in FAULTS.values() if fault.rejected_by == "protocol"]
    complaints = ("start changed", "changed gradient", "returned parameter", "returned NoneType", "raised", "hung")
    for text in (*complaints, "instead of its contents"):
        assert any(text in because for because in reasons)


def test_a_name_belongs_to_one_fault() -> None:
    with pytest.raises(ValueError, match="fault exits is entered twice"):
        enter(FAULTS["exits"])


def test_a_mutation_that_does_not_stand_in_the_rule_once_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'self\.beta1' stands 3 times in the rule"):
        mutant("adam", ("self.beta1", "self.beta2"))


@pytest.mark.parametrize("table", [mutations, papers_mutations, torch_mutations])
def test_what_takes_the_place_of_an_expression_is_one(table: Any) -> None:
    """Else ``lr * np.sign(m)`` with ``np.sign(m) + 1`` for the sign is ``(lr * np.sign(m)) + 1``."""
    apart = []
    for optimizer, changes in table.MUTATIONS.items():
        sources = mutations.sources_of(rule_named(optimizer))
        for name, old, new in changes:
            changed = [source.replace(old, new) for source in sources]
            if parsed(old) in expressions(sources) and parsed(new) not in {None, *expressions(changed)}:
                apart.append((optimizer, name))
    assert apart == []


def parsed(text: str) -> str | None:
    """The tree of an expression; None for a text that is a part of one."""
    with suppress(SyntaxError):
        return ast.dump(ast.parse(text.strip(), mode="eval").body)
    return None


def expressions(sources: Iterable[str]) -> set[str]:
    """The trees of all expressions in some texts."""
    return {ast.dump(node) for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr)}
