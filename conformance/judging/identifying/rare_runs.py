"""Holds explanations of an engine's drawn cases against the cases that no seed draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.broken import BrokenLaws, confirmed
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.candidates import FLUSHED
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.agreement import answered, compare, contradicted, has_lost
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.rare import TINY_GRADIENTS, Described, described_cases
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults

RARE = "drawn cases alone would not show it, as the counterexample does"
"""What a reason adds where a case that is never drawn decides."""

MOST = 2
"""How many kinds of cases a reason names that a rule does not explain; one more is named in the place of its count."""

OTHER = "a case that is never drawn"
"""What is said of a case which is another where the target declines some numbers."""


def is_rare(observed: Observed, case: Case) -> bool:
    """Whether a case is one that is never drawn."""
    return case.content in (rare.content for _, rare in _rare_cases(observed))


def rare_contradiction(observed: Observed, explanation: Explanation) -> tuple[Case, Array] | None:
    """Return a case that is never drawn, with the run that an explanation of all drawn cases does not explain."""
    contradicted = (case for _, case in _rare_cases(observed) if not _holds(observed, explanation, case))
    return next(((case, observed.run(case)) for case in contradicted), None)


def but_for(observed: Observed, explanation: Explanation) -> str:
    """Return in words which cases that are never drawn a rule does not explain; empty if it explains all."""
    rare = _rare_cases(observed)
    excepted = list(dict.fromkeys(words for words, case in rare if not _holds(observed, explanation, case)))
    more = len(excepted) - MOST
    *named, last = [*excepted[:MOST], f"{more} more such cases"] if more > 1 else excepted or [""]
    return f"but for {' and '.join([', '.join(named), last] if named else [last])}" if excepted else ""


def _holds(observed: Observed, explanation: Explanation, case: Case) -> bool:
    return compare(observed.run(case), explanation.expected(case), case.form).conforms


def also_explaining(
    observed: Observed, laws: BrokenLaws, rare: tuple[Case, Array], identified: Callable[[], Identity]
) -> Identity:
    """Identify what explains a rare case as well, which the documented rule as the drawn ones have it does not.

    Args:
        observed: the engine.
        laws: those it breaks, whatever it computes.
        rare: the case with its run.
        identified: identifies what the engine computes.

    Returns:
        What is identified with that case, if it is the documented rule and explains all rare cases; else nothing.
    """
    observed.required.append(rare)
    identity = identified()
    explanation = identity.explanation
    if (
        explanation is not None
        and explanation.rule.documented
        and contradicting(observed, laws, explanation) is None
        and rare_contradiction(observed, explanation) is None
    ):
        return identity
    observed.required.pop()
    return Identity(None)


def flushed_in_vain(observed: Observed, explanation: Explanation) -> bool:
    """Whether a rule leaves a run with tiny gradients unexplained that explains drawn ones with flushed numbers.

    The squares of these gradients are subnormal, and they are not. So what is tiny is off for another reason, such as a
    step that is limited, or left out, there.
    """
    tiny = (case for words, case in _rare_cases(observed) if words == TINY_GRADIENTS)
    return explanation.arithmetic.flushes_subnormals and not all(_holds(observed, explanation, case) for case in tiny)


def contradicting(observed: Observed, laws: BrokenLaws, explanation: Explanation) -> Law | None:
    """Return the most telling law that is broken beyond what the rounding of an explanation explains."""
    broken = confirmed(observed.target, laws, explanation, observed.guard).ordered if laws.broken else []
    return broken[0].law if broken else None


def flushing(observed: Observed) -> Identity | None:
    """Return what is known of the documented formula where subnormals are flushed; None if some case contradicts it.

    As for the document itself, a number may stand where the formula has none.
    """
    flushed = Explanation(documented_class(observed.optimizer), FLUSHED)
    if rare_contradiction(observed, flushed):
        return None
    known = Identity(flushed)
    for case in observed.offered(observed.cases()):
        after = observed.run(case)
        document, here = (compare(after, oracle, case.form) for oracle in (expected(case), flushed.expected(case)))
        known = Identity(flushed, known.from_document + document, known.from_explanation + here, known.tried + 1)
        if not here.conforms:
            return None
    return None if _only_lost(observed, flushed) else known


def _only_lost(observed: Observed, explanation: Explanation) -> bool:
    """Whether NaN or infinities contradict the document, and an explanation determines no element that does.

    Where nothing is bounded, everything is within the bound: also what has become NaN for another reason.
    """
    lost = False
    rare = (case for _, case in _rare_cases(observed))
    for case in chain(rare, observed.offered(observed.cases())):
        after = observed.run(case)
        there = contradicted(after, expected(case))
        if answered(after, explanation.expected(case), there):
            return False
        lost = lost or has_lost(after, there)
    return lost


def _rare_cases(observed: Observed) -> Iterator[Described]:
    subject = subject_named(observed.optimizer)
    usual = documented_defaults(subject)[0] if isinstance(subject, RuleSubject) else {}
    for words, case in described_cases(subject, observed.dtype):
        offered = observed.limits.offered(case)
        rare = {name: value for name, value in case.hyper.items() if value != usual.get(name)}
        kept = case.learning_rates == offered.learning_rates and rare.items() <= offered.hyper.items()
        if observed.offers(offered):
            yield words if kept else OTHER, offered
