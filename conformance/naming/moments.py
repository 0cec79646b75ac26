"""Forms moving averages as documented or as increments: the same number with other rounding errors.

``m + (1-b)*(g - m)`` is ``b*m + (1-b)*g`` in exact arithmetic. Where g is far below m and b is small, it keeps rounding
errors of the size of the old m, which no slack for regrouped arithmetic covers. So this is neither an axis nor a
dialect, which are about formulas: it is arithmetic, of the documented rule or of a dialect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.reference.rule import Array


def moving_average(old: Array, new: Array, decay: Any, *, incremental: bool) -> Array:
    """Move ``old`` towards ``new``, as documented or as an increment."""
    return old + (1 - decay) * (new - old) if incremental else decay * old + (1 - decay) * new


def moving_average_of_squares(old: Array, grad: Array, decay: Any, *, incremental: bool) -> Array:
    """Do the same towards ``grad**2``. Rounding is monotone, so an increment cannot be negative: hence the maximum."""
    average = moving_average(old, np.square(grad), decay, incremental=incremental)
    return np.maximum(average, 0.0) if incremental else average
