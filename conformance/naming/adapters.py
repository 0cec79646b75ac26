"""Lists the mistakes of adapters: a known rule, which is given other inputs than the target was.

An adapter that forgets to pass a hyperparameter on makes the framework compute its own rule with a value of its own. No
formula says so: the rule is right, and what reaches it is not. Each mistake is a function of what the target is given,
so the rounding bound of the rule decides, as for every other explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, Grads
from optimetry.conformance.cases.strategies import EPSILON_NAMES
from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration
from optimetry.conformance.naming.edits import usual
from optimetry.conformance.naming.mistakes import Hyper, Mistake, Rates, with_rates
from optimetry.conformance.numerics.arrays import with_zeros
from optimetry.conformance.oracle.expected import decays_of
from optimetry.conformance.subjects.subject import LEARNING_RATE, Subject
from optimetry.conformance.targets.offers import MADE_AT
from optimetry.reference.declaration import Hyperparameter
from optimetry.reference.rule import Rule, State
from optimetry.reports.parts import (
    COMPLEMENT,
    FIRST,
    GRADIENTS,
    HELD,
    MISSING,
    MULTIPLIED,
    PREVIOUS,
    RATE,
    REPEATED,
    SUMMED,
    SWAPPED,
    ZEROS,
)

IGNORED = (0.0, 1.0)
"""The neutral values of a hyperparameter that is added or multiplied by: those of one that is not used."""

DEFAULTS = "the documented defaults"


@lru_cache(maxsize=64)
def mistakes(subject: Subject, cases: tuple[Case, ...]) -> tuple[tuple[Mistake, ...], ...]:
    """Return the mistakes that are tried: the usual ones, then those of some hyperparameters together.

    Args:
        subject: what the target was asked for.
        cases: the first cases that it was given. Something may have been kept of the very first; what has one value in
            all of them is not passed on, and so not complemented.
    """
    declared, first = subject.hyperparameters(), cases[0]
    varied = [x for x in declared if any(case.hyper[x.name] != first.hyper[x.name] for case in cases)]
    singles = [held({x.name: value}, note) for x in declared for value, note in _constants(x, first.hyper).items()]
    singles += [_swapped(a, b) for a, b in _alike(declared)]
    singles += [_complement(x.name) for x in varied if x.name in decays_of(subject)]
    if subject.has_learning_rate:
        singles += [*_rates(first), *MISSING_GRADIENTS, SUMMED_GRADIENTS]
    defaults = {x.name: x.default for x in declared if x.default is not None}
    subsets = [names for size in range(2, len(defaults)) for names in combinations(defaults, size)]
    everything = [held(defaults, DEFAULTS), held(dict(first.hyper), "those of the first case")]
    singles += [mistake for mistake in everything if len(mistake.given[HELD]) > 1]
    distinct = [
        mistake for i, mistake in enumerate(singles) if all(mistake.given != other.given for other in singles[:i])
    ]
    return tuple(distinct), tuple(held({name: defaults[name] for name in names}, DEFAULTS) for names in subsets)


def _constants(declared: Hyperparameter, first: Hyper) -> dict[Any, str]:
    """Return the values that an adapter may hold a hyperparameter at, each with where it comes from."""
    known = {first[declared.name]: "that of the first case"} | dict.fromkeys(_usual(declared), "")
    return known | ({declared.default: "its documented default"} if declared.default is not None else {})


def _usual(declared: Hyperparameter) -> tuple[Any, ...]:
    """Return the special values of a hyperparameter, and its neutral ones: 0, and 1 in its domain."""
    ignored = [x for x in IGNORED if declared.kind is float and (x == 0 or x in (declared.domain or ()))]
    libraries = usual.EPSILONS if declared.name in EPSILON_NAMES else ()
    return (*declared.corners, *ignored, *libraries)


@cache
def usual_constants(subject: Subject) -> tuple[Mistake, ...]:
    """Return the mistakes of a hyperparameter held at one of its usual values."""
    declared = subject.hyperparameters()
    return tuple(held({x.name: value}) for x in declared for value in dict.fromkeys(_usual(x)))


def _alike(declared: Sequence[Hyperparameter]) -> list[tuple[str, str]]:
    """Return the pairs of hyperparameters of one kind and one domain; flags are alike, too."""
    pairs = combinations(declared, 2)
    return [(a.name, b.name) for a, b in pairs if (a.kind, str(a.domain)) == (b.kind, str(b.domain))]


def held(values: Hyper, note: str = "") -> Mistake:
    """Return the mistake of hyperparameters that have these values, whatever is given; ``note`` says where they are."""
    return Mistake({HELD: dict(values)}, lambda hyper: values, note=note)


def multiplied(factor: float) -> Mistake:
    """Return the mistake of a learning rate that reaches a rule times a factor."""
    return Mistake(
        {MULTIPLIED: {LEARNING_RATE: factor}},
        fed=with_rates(lambda rates: tuple(factor * rate for rate in rates)),
    )


def gradients_multiplied(factor: float) -> Mistake:
    """Return the mistake of gradients that reach a rule times a factor."""
    return Mistake({MULTIPLIED: {GRADIENTS: factor}}, alteration=Alteration(update=partial(_times, factor)))


def _times(factor: float, rule: Rule, param: Any, grad: Any, *inputs: Any) -> tuple[Any, State]:
    return rule.update(param, factor * grad, *inputs)


def _swapped(a: str, b: str) -> Mistake:
    return Mistake({SWAPPED: [a, b]}, lambda hyper: {a: hyper[b], b: hyper[a]})


def _complement(name: str) -> Mistake:
    return Mistake({COMPLEMENT: name}, lambda hyper: {name: 1 - hyper[name]})


def _rates(first: Case) -> Iterator[Mistake]:
    """Yield the learning rates that may reach a rule in place of this step's."""
    frozen = with_rates(lambda rates: rates[:1] * len(rates))
    late = with_rates(lambda rates: (*rates[:1], *rates[:-1]))
    yield Mistake({RATE: FIRST}, fed=frozen, breaks=(resuming,))
    yield Mistake({RATE: PREVIOUS}, fed=late, breaks=(resuming, missing_gradient))
    notes = dict.fromkeys(first.learning_rates[:1], "that of the first case") | dict.fromkeys(usual.RATES, "")
    notes[MADE_AT] = "that of the constructor"
    for rate, note in notes.items():
        yield Mistake({HELD: {LEARNING_RATE: rate}}, fed=with_rates(_constant(rate)), note=note)


def _constant(rate: float) -> Callable[[Rates], Rates]:
    return lambda rates: (rate,) * len(rates)


def _zeros_for_missing(case: Case) -> Case:
    """Put zeros where a gradient is missing."""
    return case.replace(grads=tuple(tuple(with_zeros(row, case.parameters)) for row in case.grads))


def _repeated_for_missing(case: Case) -> Case:
    """Put the gradient of the step before where one is missing."""
    rows: list[Grads] = []
    latest: Grads = (None,) * len(case.parameters)
    for row in case.grads:
        latest = tuple(old if new is None else new for old, new in zip(latest, row, strict=True))
        rows.append(latest)
    return case.replace(grads=tuple(rows))


def _sums(case: Case) -> Case:
    """Put the sum of a parameter's gradients so far in place of each, as where they are never cleared."""
    rows: list[Grads] = []
    sums: Grads = (None,) * len(case.parameters)
    with np.errstate(all="ignore"):
        for row in case.grads:
            pairs = list(zip(sums, row, strict=True))
            sums = tuple(old if new is None else new if old is None else np.asarray(old + new) for old, new in pairs)
            rows.append(tuple(None if new is None else kept for kept, (_, new) in zip(sums, pairs, strict=True)))
    return case.replace(grads=tuple(rows))


SUMMED_GRADIENTS = Mistake({GRADIENTS: SUMMED}, fed=_sums, breaks=(resuming,))
"""What reaches a rule whose gradients are never cleared."""

MISSING_GRADIENTS = (
    Mistake({MISSING: ZEROS}, fed=_zeros_for_missing, breaks=(missing_gradient,)),
    Mistake({MISSING: REPEATED}, fed=_repeated_for_missing, breaks=(missing_gradient, resuming)),
)
"""What may reach a rule in place of a missing gradient."""
