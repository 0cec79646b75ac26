"""Makes the cases that no seed draws, which every target is fed as well: numbers at 0, near 1, with all digits, tiny.

Code such as ``rho or 0.95``, a number that is passed on with four decimals, or a clamp that no usual run meets is wrong
for such cases alone. They are short and always the same, so that the drawn ones stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import cycle, islice
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, Grads
from optimetry.conformance.cases.drawn import Shape, fitting
from optimetry.conformance.cases.options import all_on
from optimetry.conformance.cases.strategies import EPSILON_NAMES, drawn_cases
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Hyperparameter, Interval
from optimetry.reference.errors import HyperparameterError

Described = tuple[str, Case]
"""What is rare about a case, as what stands behind "but for", and the case."""

STEPS, MANY_STEPS = 4, 20
SHAPE = (3, 4)

LARGE_RATE, SMALL_RATE, COUNT = 4.0, 1e-9, 17
"""A learning rate above all that are drawn, one below them, and a count above them."""

LARGEST_RATE, LARGE_NUMBER = 64.0, 3.0
"""A learning rate above any limit, and numbers without an upper end: a factor 1 - rate*decay is below 0."""

FAR = 2.0**18
"""The size of parameters beyond the range of float16."""

SLOWLY = 0.99
"""By how much a learning rate falls in each step of a schedule whose single steps are small."""

STEEPER = 4
"""How many times a negative default, such as a power, is multiplied."""

CLOSER = 16
"""How many times closer to 1 than its default a momentum or a decay rate is, where it is closer than any drawn."""

WHOLE_SIZES = (16, 32, 64, 128)
"""Sizes that leave no tail behind any vector width; all that are drawn leave one."""

GAPS = (True, True, *(False,) * 40, True, False, True, True)
"""In which steps there is a gradient: two gaps, one of them longer than what has no gradient may be kept."""

TINY = 2.0**-60
"""By which the parameters of a wrapper are scaled: what depends on their sign alone stays what it was."""

DIGITS = 1.2345678901234567
"""By which a number, or what is left of it to 1, is multiplied, so that it has all digits that a float has."""

NEAR = 2.0**-10
"""The size of parameters beside which a step shows that is small beside 1."""

GUARDED = 1e-9
"""The size of gradients, or of their squares, beside which the usual epsilons differ, where 0 is taken for one."""

TINY_GRADIENTS = "tiny gradients, whose squares are subnormal"

POWERS = {
    "float32": (70, 40, -40, -55, -70, -105),
    "bfloat16": (70, 40, -40, -55, -70, -105),
    "float64": (520, 200, -200, -530, -600),
}
"""The powers of two by which gradients are scaled, and parameters with small ones; outer squares overflow or are 0."""


def rare_cases(subject: Subject, dtype: str) -> tuple[Case, ...]:
    """Return the cases that are not drawn: of a rule normally distributed numbers, of a wrapper a drawn case."""
    return tuple(case for _, case in described_cases(subject, dtype))


@cache
def described_cases(subject: Subject, dtype: str) -> tuple[Described, ...]:
    """Return the cases that are not drawn, each with what is rare about it in words."""
    cases = _of_rule if isinstance(subject, RuleSubject) else _of_wrapper
    return tuple(cases(subject, dtype))


def may_be_zero(subject: Subject) -> list[Hyperparameter]:
    """Return the real numbers that may be 0, and are never drawn so."""
    numbers = [number for number in subject.hyperparameters() if number.kind is float and 0.0 not in number.corners]
    return [number for number in numbers if number.domain is not None and 0.0 in number.domain]


def untried_ends(subject: Subject) -> dict[str, float]:
    """Return the last number of each domain that is never drawn: the 1 of a decay rate that may be 1."""
    return {
        number.name: end
        for number, domain in _domains(subject)
        for end in domain.ends
        if end and end in domain and end not in (*number.corners, number.default)
    }


def _large(subject: Subject) -> dict[str, float]:
    """Return `LARGE_NUMBER` for all real numbers that have no upper end, such as a weight decay."""
    ends = {number.name: domain.ends for number, domain in _domains(subject)}
    return {name: LARGE_NUMBER for name, (low, high) in ends.items() if low >= 0 and np.isinf(high)}


def _domains(subject: Subject) -> Iterator[tuple[Hyperparameter, Interval]]:
    """Yield the real numbers with their domains."""
    for number in subject.hyperparameters():
        if number.kind is float and number.domain is not None:
            yield number, number.domain


def _of_rule(subject: Subject, dtype: str) -> Iterator[Described]:
    form, rng, shape = FORMATS[dtype], np.random.default_rng(0), fitting(subject, SHAPE)
    parameter, *grads = (rng.standard_normal(shape) for _ in range(1 + MANY_STEPS))
    for grad in grads:
        grad.flat[0] = 0  # what a target divides by may be 0 there
    hyper, rate = documented_defaults(subject)
    if subject.shaped:  # the default number of an iteration's steps amplifies rounding until nothing can be judged
        hyper = {**hyper, **{number.name: 1 for number in subject.hyperparameters() if number.kind is int}}

    def case(
        words: str, rates: tuple[float, ...], scale: float = 1.0, start: float = 1.0, **changed: Any
    ) -> Iterator[Described]:
        with suppress(HyperparameterError):  # one number may exclude another
            subject.of({**hyper, **changed})
            fed = tuple(((scale * grad).astype(form.dtype),) for grad in islice(cycle(grads), len(rates)))
            begun = ((start * parameter).astype(form.dtype),)
            yield words, Case(subject.name, dtype, {**hyper, **changed}, rates, begun, fed)

    usual, large = (rate,) * STEPS, f"a learning rate of {LARGE_RATE:g}"
    # The first is the first size of a step in Rprop.
    yield from case("a learning rate of 0", (rate, 0.0) * (STEPS // 2))
    yield from case("a learning rate of 0", (0.0,) * STEPS, start=0.0)  # beside 0 the smallest step shows
    yield from case(large, (LARGE_RATE,) * STEPS)
    yield from case(large, (LARGE_RATE,) * STEPS, start=0.0)  # where a norm is 0
    falling = tuple(rate * SLOWLY**step for step in range(MANY_STEPS))
    yield from case("a learning rate that falls slowly", falling, start=NEAR)
    small = float(form.smallest_normal) ** 0.25  # beside which an epsilon shows, and whose square has all digits
    for number in may_be_zero(subject):
        scales = dict.fromkeys((small, GUARDED, GUARDED**0.5)) if number.name in EPSILON_NAMES else (1.0,)
        for scale in scales:
            yield from case(f"{number.name} = 0", usual, scale, start=scale, **{number.name: 0.0})
    digits = {number.name: _with_digits(number, hyper[number.name]) for number in subject.hyperparameters()}
    yield from case("numbers with all their digits", usual, start=NEAR, **digits)
    closer = {number.name: _nearer_1(number, hyper[number.name], CLOSER) for number in subject.hyperparameters()}
    if closer != hyper:
        yield from case("decay rates close to 1", (rate,) * MANY_STEPS, start=NEAR, **closer)
    zero = {number.name: 0.0 for number in may_be_zero(subject)}
    smaller = tuple(SMALL_RATE / 2**step for step in range(STEPS))
    yield from case("learning rates below 1e-08", smaller, start=SMALL_RATE, **zero)
    real = [number.name for number in subject.hyperparameters() if number.kind is float]
    steeper = {name: STEEPER * hyper[name] for name in real if hyper[name] < 0}
    if steeper:
        words = " and ".join(f"{name} = {value:g}" for name, value in steeper.items())
        yield from case(words, (rate,) * MANY_STEPS, start=NEAR, **steeper)
    for number in subject.hyperparameters():
        if number.kind is int:
            yield from case(f"{number.name} = {COUNT}", (rate,) * MANY_STEPS, start=NEAR, **{number.name: COUNT})
    tiny = float(form.smallest_normal) ** 0.5
    for power in POWERS.get(dtype, ()):
        words = TINY_GRADIENTS if 2.0**power < tiny else f"gradients around 2^{power}"
        yield from case(words, usual, 2.0**power, min(2.0**power, NEAR))
    yield from case(f"a learning rate of {LARGEST_RATE:g}", (LARGEST_RATE,) * STEPS, **_large(subject))
    if form.largest > FAR:
        yield from case("parameters around 2^18", usual, start=FAR)
    for name, end in untried_ends(subject).items():
        yield from case(f"{name} = {end:g}", usual, **{name: end})
    ((_, plain),) = case("", usual)
    yield "the same gradient in each step", plain.replace(grads=plain.grads[:1] * STEPS)
    yield "tensors of 16 to 128 elements", _of_sizes(plain, [fitting(subject, (size,)) for size in WHOLE_SIZES])
    on = {name: value for name, value in (all_on(subject) or {}).items() if name in real}  # else there may be no state
    for words, long in case("gradients that are missing for many steps", (rate,) * len(GAPS), **on):
        rows = zip(long.grads, GAPS, strict=True)
        yield words, long.replace(grads=tuple(row if present else (None,) for row, present in rows))


def _of_sizes(case: Case, shapes: Sequence[Shape]) -> Case:
    """Return a case of one parameter with several of these shapes, in which its elements are repeated."""

    def resized(arrays: Grads) -> Grads:
        return tuple(np.resize(array, shape) for array in arrays if array is not None for shape in shapes)

    parameters = tuple(np.resize(array, shape) for array in case.parameters for shape in shapes)
    return case.replace(parameters=parameters, grads=tuple(map(resized, case.grads)))


def _with_digits(number: Hyperparameter, value: Any) -> Any:
    """Return a number like its default with more digits than any that is drawn; flags and counts as they are."""
    if number.kind is not float:
        return value
    near = _nearer_1(number, value, 1 / DIGITS) if 0.5 < value < 1 else value * DIGITS
    return near if number.domain is not None and near in number.domain else value


def _nearer_1(number: Hyperparameter, value: Any, times: float) -> Any:
    """Return a default between 0.5 and 1, such as a momentum, so many times closer to 1; others as they are."""
    near = 1 - (1 - value) / times if number.kind is float and 0.5 < value < 1 else value
    return near if number.domain is not None and near in number.domain else value


def _of_wrapper(subject: Subject, dtype: str) -> Iterator[Described]:
    numbers = [number.name for number in subject.hyperparameters() if number.kind is float]
    drawn = drawn_cases(subject, dtype, seed=0, count=100)
    first = next(case for case in drawn if case.size and case.grads and all(case.hyper[name] for name in numbers))
    for number in may_be_zero(subject):
        hyper = {**first.hyper, number.name: 0.0}
        with suppress(HyperparameterError):
            subject.of(hyper)
            yield f"{number.name} = 0", first.replace(hyper=hyper)
    if "min" in first.hyper:  # both ends above 0, so that what is clipped may change its sign
        largest = abs(first.hyper["max"])
        yield "a min above 0", first.replace(hyper={**first.hyper, "min": largest / 2, "max": largest})
    tiny = tuple(np.asarray(param * param.dtype.type(TINY)) for param in first.parameters)
    yield "parameters around 2^-60", first.replace(parameters=tiny)
    rng = np.random.default_rng(0)
    several = [tuple(rng.standard_normal(size).astype(first.form.dtype) for size in WHOLE_SIZES) for _ in range(3)]
    twice = first.replace(learning_rates=first.learning_rates[:1] * 2)
    yield "tensors of 16 to 128 elements", twice.replace(parameters=several[0], grads=tuple(several[1:]))
