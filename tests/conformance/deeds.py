"""A target that acts on the gradients it is fed, a run that ignores them, and a short case to feed both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.targets.numpy.target import run_of

GRADS = tuple((np.array([0.5 + step], np.float32), np.array(0.25 - step, np.float32)) for step in range(3))
PARAMETERS = (np.ones(1, np.float32), np.array(2, np.float32))
SGD = Case("sgd", "float32", {}, (0.1,) * 3, PARAMETERS, GRADS)
"""A case of three steps, with a 0-d parameter."""


def doing(deed: Callable[[list[Any]], Any]) -> Instead:
    """The reference, but each step also calls ``deed`` on its gradients and returns its result unless that is None."""

    def begin(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(documented, parameters)
        for name in ("step", "transform", "update"):
            if hasattr(run, name):
                setattr(run, name, done(getattr(run, name)))
        return run

    def done(plain: Any) -> Any:
        def step(grads: list[Any], *rate: float) -> Any:
            after = plain(grads, *rate)
            returned = deed(grads)
            return after if returned is None else returned

        return step

    return Instead(begin)


class Noise:
    """A run whose parameters walk at random, the same way in each."""

    def __init__(self, parameters: list[Array]) -> None:
        self.parameters = parameters
        self.rng = np.random.default_rng(0)

    def step(self, grads: list[Any], learning_rate: float) -> list[Array]:
        self.parameters = [np.asarray(p + self.rng.normal(size=p.shape), p.dtype) for p in self.parameters]
        return self.parameters
