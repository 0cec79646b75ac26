"""What a working-precision evaluation of a rule may compute in a case: wide values and their rounding bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, Format, scalar_format
from optimetry.reference.rule import Rule
from optimetry.reference.training import Training

LEARNING_RATE = "learning_rate"

UNDERFLOW_ROOM = 2.0**10
"""How much larger than the rule's own underflows those of regrouped arithmetic may be.

``lr * grad / root`` and ``lr * (grad / root)`` differ by rounding alone, but a subnormal product in the first is
divided by the root, and one in the second is not. No constant slack covers that, so each underflow has this much room:
2^-140 in float32, where flushing subnormals to zero shows at 2^-126. float16 and bfloat16 have no such room to give.
"""


@lru_cache(maxsize=256)
def expected(
    case: Case, rule: Rule | None = None, form: Format | None = None, narrow: tuple[str, ...] = ()
) -> Expected:
    """Evaluate a rule, the documented one by default, on `Bounded` numbers; the latest evaluations are kept.

    Args:
        case: what the rule is fed.
        rule: another rule to evaluate, such as a dialect.
        form: another format to bound the rounding of, such as one without subnormals.
        narrow: hyperparameters, and perhaps `LEARNING_RATE`, that may have been rounded to float32 wherever they are
            used.
    """
    rule, form = rule or case.rule, form or with_underflow_room(case.form)
    lift = lifting(rule, form, narrow)
    lifted = rule.lifted(lift)
    groups = _groups(case, rule.elementwise)
    training = Training(lifted, [Bounded.exact(_joined(case.parameters, group), form) for group in groups])
    value = np.empty((len(case.grads), case.size), form.wide)
    bound = np.empty_like(value)
    columns = [_columns(case, group) for group in groups]
    for step, (grads, rate) in enumerate(case.steps):
        joined = [None if grads[group[0]] is None else Bounded.exact(_joined(grads, group), form) for group in groups]
        after = training.step(joined, lift(LEARNING_RATE, rate))
        for param, column in zip(after, columns, strict=True):
            value[step, column], bound[step, column] = param.value.reshape(-1), param.bound.reshape(-1)
    return Expected(value, bound, np.abs(flat(case.parameters).astype(np.float64)))


def lifting(rule: Rule, form: Format, narrow: tuple[str, ...] = ()) -> Callable[[str, float], Bounded]:
    """What makes a `Bounded` number of a hyperparameter: ``lift(name, number)``; see `expected` for the rest."""
    scalars = scalar_format(form)
    decays = [x.name for x in rule.hyperparameters() if x.domain is not None and x.domain.ends == (0.0, 1.0)]

    def lift(name: str, number: float) -> Bounded:
        held_in = FORMATS["float32"] if name in narrow else scalars
        held = Bounded.scalar(number, held_in)
        bound = held.bound
        if name in decays:  # an average as `g + b*(m - g)` has b from 1 - b, which is what it may hold
            bound = np.maximum(bound, Bounded.scalar(1 - held.value, held_in).bound)
        return Bounded(held.value.astype(form.wide), bound.astype(form.wide), scalars)

    return lift


@cache
def with_underflow_room(form: Format) -> Format:
    """The format with `UNDERFLOW_ROOM`, where it has any."""
    roomy = form.roundoff <= FORMATS["float32"].roundoff
    return dataclasses.replace(form, half_tiny=form.half_tiny * UNDERFLOW_ROOM) if roomy else form


def _groups(case: Case, elementwise: bool) -> list[list[int]]:
    """The parameters that are evaluated as one: for elementwise rules, all that miss the same gradients."""
    if not elementwise:
        return [[i] for i in range(len(case.parameters))]
    groups: dict[tuple[bool, ...], list[int]] = {}
    for i in range(len(case.parameters)):
        groups.setdefault(tuple(grads[i] is None for grads in case.grads), []).append(i)
    return list(groups.values())


def _joined(arrays: Sequence[Array | None], group: list[int]) -> Array:
    return np.concatenate([np.ravel(arrays[i]) for i in group])  # type: ignore[arg-type]


def _columns(case: Case, group: list[int]) -> Array:
    starts = np.cumsum([0, *(param.size for param in case.parameters)])
    return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in group])
