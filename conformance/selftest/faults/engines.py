"""Targets with several engines, one of which is not like the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from optimetry.conformance.numerics.arrays import Array, apart, flat
from optimetry.conformance.selftest.faults.fault import Fault, FaultyTarget, enter
from optimetry.conformance.selftest.faults.mutations import mutated
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.targets.numpy.target import RuleRun, run_of
from optimetry.conformance.targets.protocol import Target
from optimetry.reference.rule import Rule


class AmongEngines(FaultyTarget):
    """The faulty engine, the last of three of which the others are honest."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.engine = "fused"

    def engines(self) -> list[Target]:
        """Return all three."""
        return [*(Instead(run_of, name=self.name, engine=engine) for engine in ("single", "foreach")), self]


class _OneAsVector(AmongEngines):
    """The engine that has one vector of all parameters, so that each needs a gradient and all have one dtype."""

    cannot = ("missing gradients",)
    mixes_dtypes = False


class _Vector(RuleRun):
    """Updates one vector of all parameters."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, [flat(parameters)])
        self.parameters = parameters

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update."""
        (after,) = super().step([flat([grad for grad in grads if grad is not None])], learning_rate)
        return apart(after, self.parameters)

    def state(self) -> dict[str, list[Array]]:
        """Return what is held of each parameter."""
        return {
            name: apart(held, self.parameters) if held.ndim else [held] * len(self.parameters)
            for name, (held,) in super().state().items()
        }

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Join it again."""
        super().load({name: [held[0] if name == "step" else flat(held)] for name, held in state.items()})


class _SavesNegated(RuleRun):
    """Keeps the velocity with the sign of the step, and so saves and loads it."""

    def state(self) -> dict[str, list[Array]]:
        """Return the negative."""
        state = super().state()
        return {**state, "velocity": [np.negative(array) for array in state["velocity"]]}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Take it for the negative."""
        super().load({**state, "velocity": [np.negative(array) for array in state["velocity"]]})


class _CountsFromOne(RuleRun):
    """Saves the number of the next step, where others save how many steps there were."""

    def state(self) -> dict[str, list[Array]]:
        """Return one more."""
        state = super().state()
        return {**state, "step": [np.array(count + 1) for count in state["step"]]}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Take one off."""
        super().load({**state, "step": [np.array(count - 1) for count in state["step"]]})


enter(
    Fault(
        name="one_engine_saves_a_negated_velocity",
        optimizer="momentum",
        defect="one of three engines keeps its velocity with the sign of the step: it continues its own runs alone",
        start=run_as(_SavesNegated),
        rejected_by="engines_continue_each_other",
        because="engine fused departs from single and foreach",
        kind=AmongEngines,
    ),
    Fault(
        name="one_engine_counts_from_one",
        optimizer="adam",
        defect="one of three engines saves the number of the next step in the place of the steps that were taken",
        start=run_as(_CountsFromOne),
        rejected_by="engines_continue_each_other",
        because="engine fused departs from single and foreach",
        kind=AmongEngines,
    ),
    Fault(
        name="one_engine_has_one_norm",
        optimizer="lamb",
        defect="one of three engines updates one vector of all parameters, so that a ratio of norms is that of all",
        start=run_as(_Vector),
        rejected_by="parameters_are_independent",
        outcome="diverges: documented, but has one norm for all parameters",
        kind=_OneAsVector,
    ),
    Fault(
        name="one_engine_steps_along_a_blend",
        optimizer="momentum",
        defect="one of three engines steps along 0.7 of the velocity and 0.3 of the gradient",
        start=mutated("momentum", ("else velocity\n", "else 0.7 * velocity + 0.3 * grad\n")),
        rejected_by="engines_agree",
        because="engine fused departs from single and foreach",
        kind=AmongEngines,
    ),
)
