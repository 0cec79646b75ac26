"""Makes targets of optimizers for Optax that are not its own: functions that make a gradient transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import optax

from optimetry.conformance.targets.fitting import Fit, Taken
from optimetry.conformance.targets.optax.rules import OptaxRule
from optimetry.conformance.targets.optax.table import OFFERS
from optimetry.conformance.targets.own import Maker
from optimetry.reference.errors import TargetError


def check(make: Any, spec: str) -> None:
    """Refuse a transformation, whose learning rate and hyperparameters are settled.

    Raises:
        TargetError: the text says what must be given instead.
    """
    if hasattr(make, "init") and hasattr(make, "update"):
        raise TargetError(f"target {spec}: a transformation that is made already, must be {KIND}")


def offer(make: Any, fit: Fit) -> OptaxRule:
    """Return the offer of a function."""

    def made(learning_rate: Any, **keywords: Any) -> Any:
        transformation = make(**{fit.rate: learning_rate}, **keywords)
        if not hasattr(transformation, "update"):
            raise TypeError(f"it made a {type(transformation).__name__}, must be a gradient transformation")
        return transformation

    return OptaxRule(made, fit.arguments, fit.constants, pinned=fit.pinned)


def engines(make: Any, taken: Sequence[Taken]) -> tuple[str, ...]:
    """Return how it can be run; compiled, its numbers are arguments, which not every function takes."""
    return ("eager", "jit")


KIND = "a function that makes a gradient transformation of a learning rate and hyperparameters"

MAKER = Maker(KIND, f"optax {optax.__version__}", OFFERS, offer, engines=engines, check=check)
