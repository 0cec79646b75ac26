"""Makes `Bounded` numbers for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, Format

formats = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


def wide(number: float, form: Format, shape: tuple[int, ...] = ()) -> Any:
    return np.full(shape, number).astype(form.wide)


def exact(array: Any, form: Format) -> Any:
    """NumPy's types know nothing of what its functions dispatch on."""
    return Bounded.exact(array, form)


def about(number: float, bound: float, form: Format, shape: tuple[int, ...] = (), nonnegative: bool = False) -> Any:
    return Bounded(wide(number, form, shape), wide(bound, form, shape), form, nonnegative)


def is_exactly(x: Any, number: float) -> bool:
    return bool(np.all(x.value == number) and np.all(x.bound == 0))
