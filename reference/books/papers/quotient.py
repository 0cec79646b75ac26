"""The quotient of algorithms that divide without an epsilon."""

from __future__ import annotations

import numpy as np

from optimetry.reference.rule import Array


def quotient(above: Array, below: Array) -> Array:
    """Return ``above / below``, 0 where ``below`` is 0: no gradient has come yet, and no step is taken.

    NaN is no 0: below it the quotient is NaN, as wherever a formula does not say otherwise.
    """
    return np.where(below == 0, 0.0, above / np.where(below == 0, 1.0, below))
