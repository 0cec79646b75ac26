"""Cases for wrappers: what a rule's case feeds as gradients is what a wrapper is fed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import seeded_plan
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper_named

MOST_STEPS = 8
"""Steps of a clip or regularizer, which know nothing of each other."""


class WrapperCase(Case):
    """A run of a wrapper: ``optimizer`` is its name, ``grads`` what it is fed, and the learning rates mean nothing."""

    @property
    def rule(self) -> Wrapper:
        """The documented wrapper with this case's hyperparameters."""
        return wrapper_named(self.optimizer).of(self.hyper)


def drawn_cases(wrapper: str, dtype: str, *, seed: int, count: int) -> Iterator[WrapperCase]:
    """``count`` cases, the same for the same seed, each independent of the others."""
    return (_drawn(wrapper, dtype, seed, number) for number in range(count))


@lru_cache(maxsize=200)
def _drawn(wrapper: str, dtype: str, seed: int, number: int) -> WrapperCase:
    """A case as rules have it, with nothing missing: a clip is not given what does not exist."""
    declared = wrapper_named(wrapper)
    case = seeded_plan(declared, dtype, seed, number).case()
    kept = len(case.grads) if declared.averages else min(len(case.grads), MOST_STEPS)
    grads = [
        tuple(np.zeros_like(param) if grad is None else grad for grad, param in zip(row, case.parameters, strict=True))
        for row in case.grads[:kept]
    ]
    return WrapperCase(
        optimizer=wrapper,
        dtype=dtype,
        hyper=_consistent(case.hyper),
        learning_rates=(1.0,) * kept,
        parameters=case.parameters,
        grads=tuple(grads),
    )


def _consistent(hyper: dict[str, float]) -> dict[str, float]:
    """Hyperparameters that may stand together: an interval has its lower end below, and mostly at minus its upper."""
    if "min" in hyper:
        upper = abs(hyper["max"])
        return {**hyper, "max": upper, "min": -upper if hyper["min"] < 0.5 else -upper / 2}
    if "min_average_window" in hyper:
        low, high = sorted((hyper["min_average_window"], hyper["max_average_window"]))
        return {**hyper, "min_average_window": low, "max_average_window": high}
    return hyper
