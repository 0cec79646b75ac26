"""Makes targets of optimizers for Optax that are not its own: functions that make a gradient transformation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import optax

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.fitting import Fit, Taken
from optimetry.conformance.targets.jax_caches import caches, configured, dtypes_of
from optimetry.conformance.targets.optax.rules import OptaxRule, OptaxRun
from optimetry.conformance.targets.optax.table import OFFERS
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.trees import LACKING, TREE, InOneSavedTree
from optimetry.reference.errors import TargetError

CONTROL_FLOW = "cond", "while", "scan"
"""The operations of JAX that hold others."""


class OwnOptaxRule(OptaxRule):
    """A function that is not Optax', fitted to a rule."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the function says where it refuses its arguments, None where it does not."""
        return self.refused(0.0, **self.keywords(hyper))

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Any:
        """Begin a run, of all parameters in one tree on the engine `TREE`."""
        if engine == "jit":
            return super().start(subject, hyper, parameters, engine)
        caches.used(subject, *dtypes_of(parameters))
        if engine == TREE:
            return InOneSavedTree(lambda trees: UncompiledRun(self, hyper, trees), parameters)
        return UncompiledRun(self, hyper, parameters)


class UncompiledRun(OptaxRun):
    """A run in which Python decides what a transformation branches on, operation by operation.

    JAX compiles a branch in every step anew, of `optax.MultiSteps` for a fifth of a second.
    """

    def __init__(self, rule: OptaxRule, hyper: Hyper, parameters: Sequence[Any]) -> None:
        super().__init__(rule, hyper, parameters, compiled=False)
        if any(self._branches(*each) for each in zip(self._parameters, self._states, strict=True)):
            self._update = jax.disable_jit()(self._update)

    def _branches(self, parameter: Any, state: Any) -> bool:
        """Whether the transformation has control flow of JAX; what cannot be traced has Python's."""
        try:
            with configured(self._wide):
                traced = str(jax.make_jaxpr(self._made(0.0).update)(parameter, state, parameter))
        except (TypeError, IndexError):
            return False
        return any(f"{name}[" in traced for name in CONTROL_FLOW)


def check(make: Any, spec: str) -> None:
    """Refuse a transformation, whose learning rate and hyperparameters are settled.

    Raises:
        TargetError: the text says what must be given instead.
    """
    if hasattr(make, "init") and hasattr(make, "update"):
        raise TargetError(f"target {spec}: a transformation that is made already, must be {KIND}")


def offer(make: Any, fit: Fit) -> OwnOptaxRule:
    """Return the offer of a function."""

    @functools.wraps(make)
    def made(learning_rate: Any, **keywords: Any) -> Any:
        transformation = make(**{fit.rate: learning_rate}, **keywords)
        if not hasattr(transformation, "update"):
            raise TypeError(f"it made a {type(transformation).__name__}, must be a gradient transformation")
        return transformation

    return OwnOptaxRule(made, **fit.fields)


def engines(make: Any, taken: Sequence[Taken]) -> tuple[str, ...]:
    """Return how it can be run; compiled, its numbers are arguments, which not every function takes."""
    return ("eager", "jit", TREE)


KIND = "a function that makes a gradient transformation of a learning rate and hyperparameters"

MAKER = Maker(KIND, f"optax {optax.__version__}", OFFERS, offer, engines=engines, check=check, lacking=LACKING)
