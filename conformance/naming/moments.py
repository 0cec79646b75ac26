"""Moving averages formed as increments: the documented number, but rounded otherwise.

``m + (1-b)*(g - m)`` is ``b*m + (1-b)*g`` in exact arithmetic. Where g is far below m and b is small, it keeps rounding
errors of the size of the old m, which no slack for regrouped arithmetic covers. So this is no axis, on which rules
differ, and no dialect: it is a way to compute the documented rule, or a dialect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.reference.rule import Array


def moving_average(old: Array, new: Array, decay: Any, *, incremental: bool) -> Array:
    """``old`` moved towards ``new``, as documented or as an increment."""
    return old + (1 - decay) * (new - old) if incremental else decay * old + (1 - decay) * new


def moving_average_of_squares(old: Array, grad: Array, decay: Any, *, incremental: bool) -> Array:
    """The same towards ``grad**2``. Rounding is monotone, so no increment makes it negative: the maximum says that."""
    average = moving_average(old, np.square(grad), decay, incremental=incremental)
    return np.maximum(average, 0.0) if incremental else average
