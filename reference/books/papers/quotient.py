"""The quotient of algorithms that divide without an epsilon."""

from __future__ import annotations

import numpy as np

from optimetry.reference.rule import Array


def quotient(above: Array, below: Array) -> Array:
    """Return ``above / below``, 0 where ``below`` is 0: no gradient has come yet, and no step is taken."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), 0.0)
