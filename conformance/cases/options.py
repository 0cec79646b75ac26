"""Chooses hyperparameters for large cases, in which a kernel of each option of a subject is met.

An implementation may have a kernel of its own for Nesterov momentum, or for no decay. A fault in that kernel shows in
large tensors alone, and only with that option.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import combinations, count
from typing import Any

from optimetry.conformance.cases.drawn import Drawn
from optimetry.reference.declaration import Hyperparameter
from optimetry.reference.errors import HyperparameterError


def option_settings(subject: Drawn) -> list[dict[str, Any]]:
    """Return hyperparameters in few settings, the defaults first, in which every two options meet in all four ways.

    An option is a flag, or a real number that may be switched on or off, by another value than 0 or by 0. Of a subject
    without options there are two settings, both the defaults.

    Behind the defaults, each option is switched in more than half of the settings, so any two are in one of them, and
    no two in the same, so each is somewhere without the other.
    """
    typical = subject.declaration.typical().hyper()
    other = {x.name: _switched(x, typical[x.name]) for x in subject.hyperparameters()}
    options = [name for name, value in other.items() if value is not None]
    settings = next(n for n in count(1) if math.comb(n, n // 2 + 1) >= len(options))
    switched = list(zip(options, combinations(range(settings), settings // 2 + 1), strict=False))
    chosen = [{name: other[name] for name, settings_with in switched if i in settings_with} for i in range(settings)]
    return [typical, *({**typical, **changes} for changes in chosen)]


def all_on(subject: Drawn) -> dict[str, Any] | None:
    """Return the defaults with all options on that are off in them, or all but one that excludes another.

    Returns:
        The hyperparameters; None where no option is off.
    """
    typical = subject.declaration.typical().hyper()
    other = {x.name: _switched(x, typical[x.name]) for x in subject.hyperparameters() if not typical[x.name]}
    on = {name: value for name, value in other.items() if value}
    for left_out in (None, *on) if on else ():
        hyper = {**typical, **{name: value for name, value in on.items() if name != left_out}}
        with suppress(HyperparameterError):
            subject.declaration.of(hyper)
            return hyper
    return None


def _switched(declared: Hyperparameter, value: Any) -> Any:
    """Return the other position of an option, None for a hyperparameter that is none."""
    if declared.kind is bool:
        return not value
    if declared.kind is not float:
        return None
    if value:
        return 0.0 if 0.0 in declared.corners else None
    return next((corner for corner in declared.corners if corner), None)
