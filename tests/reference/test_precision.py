"""Arrays in one working precision, whatever they meet."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from optimetry.reference.precision import working


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_a_number_that_was_chosen_is_rounded_as_any_other(dtype: type) -> None:
    array, chosen = working(np.ones(2, dtype)), np.where(True, 0.1, 0.2)
    for result in (array * chosen, chosen * array, array / chosen, np.maximum(array, chosen)):
        assert result.dtype == dtype
    assert (array * chosen).tolist() == (array * 0.1).tolist()
