"""Diagnosis of what is explained in parts: the report is about these, and about no rule that merely comes near."""

from __future__ import annotations

from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.judging.counterexamples.divergence import first_divergence
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import diagnosed


def test_where_parts_explain_it_no_nearest_rule_is_named_and_the_document_diverges() -> None:
    fault = FAULTS["rate_over_the_root"]
    diagnosis = diagnosed(fault.target(), fault.optimizer)
    assert diagnosis.divergence is not None
    documented = documented_class("adam").of(diagnosis.divergence.case.hyper)
    expected = first_divergence(fault.target(), diagnosis.divergence.case, documented, Guard())
    assert expected is not None
    assert diagnosis.divergence.expected == expected.expected
    text = report("x", [diagnosis], 0)
    assert "scaled_epsilon, but multiplies the learning rate by t**-0.5" in text
    assert "documented" in text
    assert "nearest" not in text
    assert "rules of the adam family" not in text
