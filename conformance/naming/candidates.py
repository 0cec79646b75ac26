"""What else a target may compute: the named rules that are tried once the documented one is convicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.moments import Incremental, incremental_variants
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.precision import RoundedHyperparameters, precision_variants, to_float32
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.rounding import narrowable
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.formats import flushing
from optimetry.conformance.oracle.expected import expected


@dataclass(frozen=True)
class Candidate:
    """One explanation of a target that does not compute the documented rule.

    Attributes:
        name: the dialect's name, as verdicts give it.
        reason: one sentence for the reader.
        oracle: what the target must be within the slack of.
    """

    name: str
    reason: str
    oracle: Callable[[Case], Expected]


def tiers(optimizer: str, dtype: str, probed: Probed) -> Iterator[list[Candidate]]:
    """The candidates for one rule, the sharpest explanations first; a tier is tried when none before it explains.

    Named dialects are tried before the unnamed classes of the family, of which the probes leave one at most. Only
    beside float64 parameters can float32 hyperparameters be told from rounding: first rounded throughout, then rounded
    in some of their uses, then rounded in some uses of a dialect. Flushed subnormals are tried last. Moments formed as
    increments come before rounded numbers, whose bounds are wide enough to explain them, too.
    """
    dialects = DIALECTS[optimizer]
    everything = narrowable(optimizer) if dtype == "float64" else ()
    yield [_of_dialect(dialect) for dialect in dialects]
    yield [_of_dialect(one) for one in probed.unnamed()]
    yield [_of_dialect(variant) for variant in incremental_variants(optimizer)]
    if everything:
        yield [_of_rounding(variant) for variant in precision_variants(optimizer)]
        yield [partly_rounded(everything)]
        yield [_of_dialect(dialect, narrow=everything) for dialect in dialects]
        yield [_of_dialect(one, narrow=everything) for one in probed.unnamed(everything)]
    yield [_flushed()]
    yield [_of_dialect(dialect, flushes=True) for dialect in dialects]
    yield [_of_dialect(one, flushes=True) for one in probed.unnamed()]
    yield [_of_dialect(variant, flushes=True) for variant in incremental_variants(optimizer)]
    if everything:
        yield [_of_dialect(dialect, narrow=everything, flushes=True) for dialect in dialects]


def partly_rounded(names: tuple[str, ...]) -> Candidate:
    """The documented rule with these numbers rounded to float32 in some of their uses."""
    return Candidate(
        name=PARTLY_ROUNDED,
        reason=f"the documented rule with numbers rounded to float32 in some of their uses: {', '.join(names)}",
        oracle=lambda case: expected(case, narrow=names),
    )


PARTLY_ROUNDED = "float32_in_some_uses"


def _of_dialect(
    dialect: Dialect | Incremental | PointClass, *, narrow: tuple[str, ...] = (), flushes: bool = False
) -> Candidate:
    changes = [f"{', '.join(narrow)} rounded to float32"] * bool(narrow) + ["subnormals flushed to zero"] * flushes
    return Candidate(
        name=dialect.name + "+float32" * bool(narrow) + "+flushed" * flushes,
        reason=f"{dialect.difference}, as in {dialect.origin}" + "".join(f"; with {change}" for change in changes),
        oracle=lambda case: expected(
            case, dialect.rule(case.hyper), flushing(case.form) if flushes else None, narrow=narrow
        ),
    )


def _flushed() -> Candidate:
    return Candidate(
        name="flushed_subnormals",
        reason="the documented rule with subnormals flushed to zero",
        oracle=lambda case: expected(case, form=flushing(case.form)),
    )


def _of_rounding(variant: RoundedHyperparameters) -> Candidate:
    def oracle(case: Case) -> Expected:
        rates = map(to_float32, case.learning_rates) if variant.rounds_learning_rate else case.learning_rates
        return expected(case.replace(learning_rates=tuple(rates)), variant.rule(case.hyper))

    return Candidate(variant.name, f"the documented rule with {variant.difference}", oracle)
