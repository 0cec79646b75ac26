"""Tries optimizers of users with their first steps: what does not raise in them is what a target offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from optimetry.conformance.harness.python_harness import GROUPS, MIXED, default_environment, what_is_wrong
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.offers import Offer


def usual(offer: Offer, rule: str) -> dict[str, Any]:
    """Return the default hyperparameters of a rule, as far as an offer can have them."""
    return subject_named(rule).declaration.typical().hyper() | dict(offer.held())


def first_step(offer: Offer, rule: str, engine: str, missing: bool = False, shape: tuple[int, ...] = (2,)) -> None:
    """Begin a run with default hyperparameters on two small parameters, and do one step, perhaps with one gradient.

    What it gives may be of another dtype: one that computes all in float64 is judged, and an *error* in the others.

    Raises:
        ValueError: it is refused, or does not give what it should; or whatever the optimizer raises.
    """
    hyper, parameters = usual(offer, rule), _two(rule, shape)
    with default_environment(), np.errstate(all="ignore"):
        refusal = offer.refusal(rule, hyper, "float32", engine)
        if refusal is not None:
            raise ValueError(refusal)
        grads = [array / 2 for array in parameters]
        after = offer.start(rule, hyper, parameters, engine).step([grads[0], None] if missing else grads, 0.125)
    if isinstance(after, list | tuple):
        after = [np.asarray(x, np.float32) if isinstance(x, np.ndarray | np.generic) else x for x in after]
    wrong = what_is_wrong(after, parameters)
    if wrong:
        raise ValueError(f"it gave {wrong}")


def _two(rule: str, shape: tuple[int, ...] = (2,)) -> list[Array]:
    """Return two small parameters, matrices where a rule takes no others."""
    shape = shape if subject_named(rule).takes(shape) else (2, 2)
    return [np.ones(shape, np.float32), np.full(shape, 2, np.float32)]


def works(
    offer: Offer, rule: str, engine: str = "default", missing: bool = False, shape: tuple[int, ...] = (2,)
) -> bool:
    """Return whether `first_step` raises nothing."""
    try:
        first_step(offer, rule, engine, missing, shape)
    except (Exception, SystemExit):
        return False
    return True


def _step_groups(offer: Any, rule: str, engine: str) -> None:
    """Train two groups for a step, and then three."""
    hyper, parameters = usual(offer, rule), _two(rule)
    run = offer.start_groups([(hyper, [parameter]) for parameter in parameters], engine)
    for rates in ([0.125] * 2, [0.125] * 3):
        run.step([parameters[0] / 2 for _ in rates], rates)
        if len(rates) == len(parameters):
            run.add(hyper, [parameters[0]])


def _step_mixed(offer: Offer, rule: str, engine: str) -> None:
    """Train a parameter in float32, and one in float64, for a step."""
    narrow, wide = _two(rule)
    parameters = [narrow, wide.astype(np.float64)]
    offer.start(rule, usual(offer, rule), parameters, engine).step([array / 2 for array in parameters], 0.125)


MORE: Mapping[str, Callable[[Any, str, str], None]] = {GROUPS: _step_groups, MIXED: _step_mixed}
"""What an optimizer may take beside parameters of one group in one dtype, each with a first step."""
