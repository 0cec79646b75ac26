"""Laws of averages of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import copied
from optimetry.conformance.laws.law import Difference, Trial, beyond, exact_difference, is_average, law, named
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.session import Session, watched
from optimetry.reference.averaging.window import FOLD

BEYOND = 20
"""Updates behind a fold, or behind the window that is closed behind two."""


def ended(trial: Trial, *, applied: bool = True) -> tuple[Any, list[Array]]:
    """Feed a target all updates of a case; return its run, and the parameters it was fed last.

    Args:
        trial: an average on a case with at least one step.
        applied: whether the average is applied and restored after each update on the way.
    """
    session = Session(trial.target, trial.case)
    for fed, rate in trial.case.steps:
        if applied:
            session.step(fed, rate)
        else:
            session.update(fed)
    return session.run, [array for array in trial.case.grads[-1] if array is not None]


def different(results: Sequence[Array], must: Sequence[Array]) -> str | None:
    """Describe where two lists of arrays differ in a bit."""
    for i, (a, b) in enumerate(zip(results, must, strict=True)):
        if not same_bits(a, b):
            difference = exact_difference(a.reshape(1, -1), b.reshape(1, -1))
            if difference is None:
                return f"parameter {i}: the sign of a zero, or the bits of a NaN"
            return difference.extended(before=f"parameter {i}: ")
    return None


@law("restore brings back the parameters that apply has replaced, bit for bit", applies=is_average)
def restoring(trial: Trial) -> str | None:
    with watched(trial.guard):
        run, fed = ended(trial)
        run.apply()
        return different(run.restore(), fed)


@law("applying an average changes nothing of it", applies=is_average)
def applying_only_reads(trial: Trial) -> str | None:
    with watched(trial.guard):
        often, once = ended(trial)[0], ended(trial, applied=False)[0]
        return different(copied(often.apply()), copied(once.apply()))


@law(
    "apply gives the same a second time, and restore still what training had",
    universal=False,
    applies=is_average,
)
def applying_twice(trial: Trial) -> str | None:
    with watched(trial.guard):
        run, fed = ended(trial)
        first = copied(run.apply())
        return different(run.apply(), first) or different(run.restore(), fed)


@law("the average of a constant is that constant", universal=False, applies=named("exponential_moving_average"))
def constant(trial: Trial) -> str | None:
    case, steps = trial.case, len(trial.case.grads)
    still = trial.on(case.replace(grads=(case.parameters,) * steps))
    must = np.repeat(flat(case.parameters)[None], steps, axis=0)
    return beyond(still.run(), must, expected(still.case).bound)


@law(
    "the average is the mean of the parameters in two windows, kept in a list",
    universal=False,
    applies=named("model_average"),
)
def two_windows(trial: Trial) -> str | None:
    case = trial.case
    numbers = [(7 * i) % 23 - 5 for i in range(len(case.grads))]
    fed = (tuple(np.full_like(param, number) for param in case.parameters) for number in numbers)
    results = trial.on(case.replace(grads=tuple(fed))).run()
    previous: list[int] = []
    current: list[int] = []
    for updates, number in enumerate(numbers, 1):
        current.append(number)
        length = min(case.hyper["max_average_window"], updates * case.hyper["average_window_rate"])
        if len(current) >= case.hyper["min_average_window"] and len(current) >= length:
            previous, current = current, []
        if (difference := _not_the_mean(case, results[updates - 1], previous + current)) is not None:
            return difference.extended(f", after {updates} updates")
    return None


@law("sums are kept across the fold of 16384 updates", universal=False, applies=named("model_average"), slow=True)
def fold(trial: Trial) -> str | None:
    """The first window is closed behind two folds; the average is tried before, then and in the next."""
    length = 2 * FOLD + BEYOND
    case = trial.case.replace(
        hyper={"average_window_rate": 1.0, "min_average_window": length, "max_average_window": length},
        parameters=(np.zeros(1, trial.case.form.dtype),),
        grads=(),
        learning_rates=(),
    )
    if case.form.largest < 1e5 or not trial.on(case).offered:
        return None
    numbers = [(7 * i) % 23 - 5 for i in range(length + BEYOND)]
    arrays = {number: np.full(1, number, case.form.dtype) for number in set(numbers)}
    run = None
    for start in range(0, len(numbers), FOLD):
        with watched(trial.guard):
            run = run or Session(trial.target, case).run
            for updates, number in enumerate(numbers[start : start + FOLD], start + 1):
                run.update([arrays[number]])
                if updates in (FOLD + BEYOND, length, length + BEYOND):
                    if (difference := _not_the_mean(case, run.apply()[0], numbers[:updates])) is not None:
                        return difference.extended(f", after {updates} updates")
                    run.restore()
    return None


def _not_the_mean(case: Case, result: Array, numbers: Sequence[int]) -> Difference | None:
    """Describe what is not the mean of these numbers, up to the rounding of one division and of its result."""
    mean = Fraction(sum(numbers), len(numbers))
    reach = Fraction(SLACK) * (abs(mean) * Fraction(case.form.roundoff) + Fraction(float(case.form.half_tiny)))
    for number in result.reshape(-1)[:1].tolist():
        if not np.isfinite(number) or abs(Fraction(number) - mean) > reach:
            text = f"{number}, must be {float(mean)}, the mean of {len(numbers)} parameters"
            return Difference.of(text, np.array([[number]]), np.array([[float(mean)]]), float(reach))
    return None
