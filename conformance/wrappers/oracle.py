"""What a working-precision evaluation of a wrapper may give in a case: wide values and their rounding bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import Format
from optimetry.conformance.oracle.expected import lifting, with_underflow_room
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.conformance.wrappers.case import WrapperCase


@lru_cache(maxsize=64)
def expected(
    case: WrapperCase,
    wrapper: Wrapper | None = None,
    form: Format | None = None,
    narrow: tuple[str, ...] = (),
    times: int = 1,
) -> Expected:
    """Evaluate a wrapper, the documented one by default, on `Bounded` numbers.

    Args:
        case: what the wrapper is fed.
        wrapper: another one to evaluate, such as a variant.
        form: another format to bound the rounding of.
        narrow: hyperparameters that may have been rounded to float32.
        times: how often it is applied; the second time to what it gave the first.
    """
    wrapper, form = wrapper or case.rule, form or with_underflow_room(case.form)
    lifted = wrapper.lifted(lifting(wrapper, form, narrow))
    parameters = [Bounded.exact(array, form) for array in case.parameters]
    value = np.empty((len(case.grads), case.size), form.wide)
    bound = np.empty_like(value)
    state: Any = None
    with np.errstate(all="ignore"):
        for step, fed in enumerate(case.grads):
            given: Sequence[Any] = [Bounded.exact(array, form) for array in fed]
            for _ in range(times):
                given, state = lifted.feed(given, parameters, state)
            value[step] = np.concatenate([array.value.reshape(-1) for array in given])
            bound[step] = np.concatenate([array.bound.reshape(-1) for array in given])
    return Expected(value, bound, np.zeros(case.size) if wrapper.clips else _largest_fed(case))


def _largest_fed(case: WrapperCase) -> Any:
    """The largest magnitude that each element had among what was fed, the parameters before it included."""
    fed: Any = (case.parameters, *case.grads)
    rows = [flat(arrays).astype(np.float64) for arrays in fed]
    return np.max(np.abs(rows), axis=0)
