"""Elements and precision: some elements left out or computed otherwise, a norm of narrower numbers."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.hooks import hooked
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter

LEFT_OVER = "np.arange(grad.size).reshape(grad.shape) >= grad.size // 8 * 8"


def _first_rows_alone(before: Array, after: Array) -> Array:
    """Take the length of the first axis for the number of elements."""
    count = len(before) if before.ndim else 1
    return np.concatenate([after.reshape(-1)[:count], before.reshape(-1)[count:]]).reshape(before.shape)


enter(
    "elements",
    (
        edited(
            "deepspeed-503",
            "adam",
            "the loop over what vectors of 8 leave over squares the first moment before it decays",
            ("self.beta1 * state.moment1 +", f"self.beta1 * np.where({LEFT_OVER}, state.moment1**2, state.moment1) +"),
        ),
        bug(
            "deepspeed-3109",
            "adagrad",
            "as many elements are updated as the first axis is long",
            hooked(parameter=_first_rows_alone),
            "diverges: documented, but leaves out all but as many elements as the first axis is long",
        ),
    ),
)

enter(
    "precision",
    (
        edited(
            "mxnet-17700",
            "lamb",
            "the norm is of the weights in half precision, beside weights of float32",
            ("norm(param)", "norm(param.astype(np.float16).astype(param.dtype))"),
        ),
    ),
)
