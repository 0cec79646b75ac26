"""Tries optimizers of users with their first steps: what does not raise in them is what a target offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.offered import EMPTY, MISSING, NONFINITE, ZERO_D
from optimetry.conformance.harness.python_harness import (
    COLUMNS,
    GAPS,
    GROUPS,
    MIXED,
    STRIDED,
    default_environment,
    laid_out,
    what_is_wrong,
)
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.offers import Offer

Scales = tuple[float, float]
"""What the gradients of the two parameters are, as multiples of these."""

HALVES: Scales = (0.5, 0.5)


def usual(offer: Offer, rule: str) -> dict[str, Any]:
    """Return the default hyperparameters of a rule, as far as an offer can have them."""
    return subject_named(rule).declaration.typical().hyper() | dict(offer.held())


def first_step(offer: Offer, rule: str, engine: str, missing: int = 0) -> None:
    """Begin a run with default hyperparameters on two small parameters, and do a step, of which gradients are missing.

    What it gives may be of another dtype: one that computes all in float64 is judged, and an *error* in the others.

    Raises:
        ValueError: it is refused, or does not give what it should; or whatever the optimizer raises.
    """
    parameters = _two(rule)
    after = rounded = _after_a_step(offer, rule, engine, parameters, missing)
    if isinstance(after, list | tuple):
        rounded = [np.asarray(x, np.float32) if isinstance(x, np.ndarray | np.generic) else x for x in after]
    if what_is_wrong(rounded, parameters):
        raise ValueError(f"it gave {what_is_wrong(after, parameters)}")


def _after_a_step(
    offer: Offer, rule: str, engine: str, parameters: list[Array], missing: int = 0, scales: Scales = HALVES
) -> Any:
    hyper = usual(offer, rule)
    with default_environment(), np.errstate(all="ignore"):
        refusal = offer.refusal(rule, hyper, "float32", engine)
        if refusal is not None:
            raise ValueError(refusal)
        pairs = zip(parameters, scales, strict=True)
        grads = [np.asarray(array * np.float32(scale)) for array, scale in pairs]  # a scaled 0-d array is no array
        fed = [*grads[: len(grads) - missing], *[None] * missing]
        return offer.start(rule, hyper, parameters, engine).step(fed, 0.125)


def _two(rule: str, shape: tuple[int, ...] = (2,)) -> list[Array]:
    """Return two small parameters, matrices where a rule takes no others."""
    shape = shape if subject_named(rule).takes(shape) else (2, 2)
    return [np.ones(shape, np.float32), np.full(shape, 2, np.float32)]


def works(offer: Offer, rule: str, engine: str = "default", missing: int = 0) -> bool:
    """Return whether `first_step` raises nothing."""
    try:
        first_step(offer, rule, engine, missing)
    except (Exception, SystemExit):
        return False
    return True


RARE_SHAPES: Mapping[str, tuple[tuple[int, ...], ...]] = {ZERO_D: ((),), EMPTY: ((0,), (0, 2))}
"""Words for a target's ``cannot``, each with shapes: what takes an empty vector may fail with an empty matrix."""


def refused_inputs(offer: Offer, rule: str, engine: str) -> list[str]:
    """Return the words for a target's ``cannot`` with which a first step raises; what it gives is for the judge."""
    raises = partial(_raises, offer, rule, engine)
    words = [word for word, shapes in RARE_SHAPES.items() if any(map(raises, shapes))]
    words += [NONFINITE] * raises(scales=(np.nan, np.inf))
    # A norm over no gradient at all may raise; what raises for one that is missing is an error to be told.
    return [MISSING, *words] if raises(missing=2) and not raises(missing=1) else words


def _raises(
    offer: Offer, rule: str, engine: str, shape: tuple[int, ...] = (2,), scales: Scales = HALVES, missing: int = 0
) -> bool:
    try:
        _after_a_step(offer, rule, engine, _two(rule, shape), missing, scales)
    except (Exception, SystemExit):
        return True
    return False


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


def _step_strided(offer: Offer, rule: str, engine: str) -> None:
    """Train two matrices, of which one lies in columns and one has gaps, for a step."""
    parameters = [laid_out(matrix, layout) for matrix, layout in zip(_two(rule, (2, 2)), (COLUMNS, GAPS), strict=True)]
    run = offer.start(rule, usual(offer, rule), parameters, engine)
    run.step([laid_out(matrix / 2, layout) for matrix, layout in zip(parameters, (GAPS, COLUMNS), strict=True)], 0.125)


MORE: Mapping[str, Callable[[Any, str, str], None]] = {
    GROUPS: _step_groups,
    MIXED: _step_mixed,
    STRIDED: _step_strided,
}
"""What an optimizer may take beside contiguous parameters of one group in one dtype, each with a first step."""
