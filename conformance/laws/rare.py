"""The law of numbers that are seldom used: code such as ``beta2 or 0.999`` is wrong for them alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Trial, behind, beyond, is_rule, law
from optimetry.conformance.laws.variations import complete
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.magnitudes import magnitude_of
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.errors import OptimetryError, TargetFault

STEPS = 8
"""The steps that are taken with such a number."""

RATE = 3.0
"""A learning rate above all that are drawn."""


@law("the document holds for numbers that are seldom used", universal=False, symptom=True)
def rare_numbers(trial: Trial) -> str | None:
    """Judges only a target that computes the formula in the case itself; one may refuse such a number by raising.

    Leaves out steps with a missing gradient, as these have laws of their own.
    """
    here = trial.on(complete(trial.case).upto(STEPS))
    if not _holds(here):
        return None
    for what, case in _rare(here.case):
        there = here.on(case)
        try:
            if not there.offered or _holds(there):
                continue
        except TargetFault:
            continue
        after, oracle = there.run(), there.formula(case)
        rounding = 2 * case.form.roundoff * magnitude_of(oracle.value) + case.form.tiny
        contradiction = beyond(after, oracle.value.astype(after.dtype), oracle.bound + rounding)
        if contradiction is not None:
            return behind(f"with {what}: ", contradiction)
    return None


def _holds(trial: Trial) -> bool:
    """Whether the formula explains a run."""
    return explains(trial.run(), trial.formula(trial.case), trial.case.form)


def _rare(case: Case) -> Iterator[tuple[str, Case]]:
    """Yield the case with 0 for each number for which it is allowed and never drawn, and with a large learning rate.

    Zeros come a second time without what is switched on, since a difference of averages, say, may say nothing then.
    """
    subject = subject_of(case)
    flags = {flag.name: False for flag in subject.hyperparameters() if flag.kind is bool}
    for number in subject.hyperparameters():
        if number.kind is float and 0.0 not in number.corners:
            zero = {**case.hyper, number.name: 0.0}
            for hyper in (zero, zero | flags) if zero != zero | flags else (zero,):
                with suppress(OptimetryError):
                    subject.of(hyper)
                    yield f"{number.name} = 0", case.replace(hyper=hyper)
    if is_rule(subject):
        yield f"a learning rate of {RATE:g}", case.replace(learning_rates=(RATE,) * len(case.learning_rates))
