"""A target's wrappers in the protocol of its optimizers, so that one guard and one trajectory serve both."""

from __future__ import annotations

from typing import Any

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers.wrapper import wrapper_named
from optimetry.conformance.targets.protocol import Hyper, Target, engine_name, reason_unsupported


class WrapperTarget:
    """One engine of a target, whose runs give at every step what its wrapper gives.

    Args:
        target: the engine.
        applied: whether an average is applied and restored after every update, or only read at the end: the updates
            before the last then give the parameters that were fed.
    """

    def __init__(self, target: Target, applied: bool = True) -> None:
        self.target, self.applied = target, applied
        self.name, self.version, self.engine = target.name, target.version, engine_name(target)

    def unsupported(self, wrapper: str, hyper: Hyper, dtype: str) -> str | None:
        """What the target says; one that cannot start wrappers offers none."""
        if not callable(getattr(self.target, "start_wrapper", None)):
            return f"{self.name} offers no wrappers: it has no start_wrapper"
        return reason_unsupported(self.target, wrapper, hyper, dtype)

    def start(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientSteps | AverageSteps:
        """Begin a run of a wrapper."""
        run: Any = self.target
        run = run.start_wrapper(wrapper, hyper, parameters)
        return AverageSteps(run, self.applied) if wrapper_named(wrapper).averages else GradientSteps(run)


class GradientSteps:
    """A clip or a regularizer, step by step."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """The transformed gradients."""
        given: list[Array] = self.run.transform(grads)
        return given


class AverageSteps:
    """An average, fed parameters in place of gradients."""

    def __init__(self, run: Any, applied: bool = True) -> None:
        self.run, self.applied = run, applied

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Update, apply and restore; the averages. What `restore` brings back is for a law to judge."""
        fed = [array.copy() for array in grads if array is not None]
        self.run.update(grads)
        if not self.applied:
            return fed
        given = [array.copy() for array in self.run.apply()]
        self.run.restore()
        return given
