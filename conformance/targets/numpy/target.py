"""The reference itself, evaluated in working precision: the target that must always conform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.rules import training
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.conformance.targets.numpy.batches import mean_of, unscaled
from optimetry.conformance.targets.numpy.groups import Grouped
from optimetry.conformance.targets.numpy.wrappers import (
    AverageFeed,
    Compressed,
    Documented,
    GradientFeed,
    documented,
    started,
)
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.declaration import Declared
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State
from optimetry.reference.rules import rule_named


class RuleRun:
    """Runs any rule in the precision of its parameters; its state is the slots, and the update counts as ``step``."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        self.training = training(rule, [working(param) for param in parameters])

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update, and return arrays that the caller may keep."""
        lifted = [None if grad is None else working(grad) for grad in grads]
        return [np.array(param) for param in self.training.step(lifted, learning_rate)]

    def state(self) -> dict[str, list[Array]]:
        """Return every slot, and the number of updates of each parameter as 0-d int64 arrays."""
        slots = {slot: [np.array(state[slot]) for state in self.training.states] for slot in self.training.rule.slots}
        return slots | {"step": [np.array(count) for count in self.training.updates]}

    def load(self, state: dict[str, list[Array]]) -> None:
        """Continue from what `state` returned."""
        self.training.updates = [int(count) for count in state["step"]]
        self.training.states = [
            State(**{slot: _like(kept, state[slot][index]) for slot, kept in before.items()})
            for index, before in enumerate(self.training.states)
        ]


class ScalingRun(RuleRun):
    """The same, which takes gradients as a loss scaler and the parts of a batch give them, too."""

    def step_scaled(self, grads: list[Array | None], learning_rate: float, scale: float) -> list[Array]:
        """Divide gradients by their scale and apply the update, which is left out where one is not finite."""
        if not all(grad is None or np.isfinite(grad).all() for grad in grads):
            return [np.array(param) for param in self.training.parameters]
        return self.step(unscaled(grads, scale), learning_rate)

    def step_accumulated(self, parts: Sequence[list[Array | None]], learning_rate: float) -> list[Array]:
        """Apply one update from the mean of the gradients of all parts."""
        return self.step(mean_of(parts), learning_rate)


def _like(kept: Any, saved: Array) -> Any:
    """Turn a saved slot into what the rule keeps there: a number of the whole parameter, or an array."""
    return working(saved) if isinstance(kept, np.ndarray) else float(saved)


def run_of(computed: Declared, parameters: list[Array]) -> RuleRun | GradientFeed | AverageFeed:
    """A run of any formula, documented or not: of a rule or of a wrapper."""
    return RuleRun(computed, parameters) if isinstance(computed, Rule) else started(cast(Wrapper, computed), parameters)


class NumpyTarget:
    """The documented rules in NumPy, one operation after the other, each rounded to the parameters' dtype."""

    name = "numpy"
    version = np.__version__
    mixes_dtypes = strided = True

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
        """Begin a run of the documented rule."""
        return ScalingRun(rule_named(optimizer).of(hyper), parameters)

    def start_groups(self, optimizer: str, groups: Sequence[tuple[Hyper, list[Array]]]) -> Grouped:
        """Begin a run of a rule over groups of parameters."""
        return Grouped(lambda hyper, parameters: self.start(optimizer, hyper, parameters), groups)

    def start_wrapper(
        self, wrapper: str, hyper: Hyper, parameters: list[Array]
    ) -> Documented | Compressed | GradientFeed | AverageFeed:
        """Begin a run of the documented wrapper."""
        return documented(wrapper, hyper, parameters)


target = NumpyTarget
