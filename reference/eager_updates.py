"""The updates of eager parameters, whose state stays with the optimizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from optimetry.reference.accumulators import Accumulators, Entry
from optimetry.reference.errors import ArgumentError
from optimetry.reference.learning_rate import LearningRate
from optimetry.reference.programs.program import Parameter
from optimetry.reference.rule import Rule

if TYPE_CHECKING:
    from optimetry.reference.programs.eager import EagerParameter


class EagerUpdates:
    """The state that one optimizer keeps of eager parameters.

    Args:
        accumulators: how a parameter is updated.
        learning_rate: where the learning rate comes from.
        parameter_list: the parameters of the optimizer's constructor, or names; those of programs are passed over.

    Attributes:
        parameters: the eager ones.
        entries: the state by name of parameter; empty before the first step.
    """

    def __init__(self, accumulators: Accumulators, learning_rate: LearningRate, parameter_list: Iterable[Any]) -> None:
        self.accumulators = accumulators
        self.learning_rate = learning_rate
        self.parameters: list[EagerParameter] = [p for p in parameter_list if not isinstance(p, str | Parameter)]
        self.entries: dict[str, Entry] = {}

    def resolved(self, parameters: Iterable[Any] | None) -> list[EagerParameter]:
        """Eager parameters; names stand for those of the constructor.

        Raises:
            ArgumentError: there are none, a name is not among those of the constructor, or one is of a program.
        """
        label = self.accumulators.rule.name
        if parameters is None:
            raise ArgumentError(f"{label}: an eager step needs the argument `parameters` of the constructor")
        named = {parameter.name: parameter for parameter in self.parameters}
        eager: list[Any] = [named.get(each, each) if isinstance(each, str) else each for each in parameters]
        for parameter in eager:
            if isinstance(parameter, str):
                raise ArgumentError(
                    f"{label}: parameter {parameter!r}, must be the name of an eager parameter of the constructor: "
                    f"{', '.join(named) or '(none)'}"
                )
            if not hasattr(parameter, "grad"):
                raise ArgumentError(f"{label}: {parameter!r} has no .grad; its steps are the runs of its program")
        return eager

    def step(self, params_grads: Sequence[tuple[EagerParameter, Any]], rules: Sequence[Rule]) -> None:
        """Update every parameter by its rule, from a gradient that is checked, clipped and regularized."""
        rate = self.learning_rate.now()
        known = [p for p in (*self.parameters, *(p for p, _ in params_grads)) if p.trainable]
        entries = {p.name: self.accumulators.first(p.value) for p in known} | self.entries
        stepped = [
            self.accumulators.stepped(parameter, parameter.value, entries[parameter.name], grad, rate, rule)
            for (parameter, grad), rule in zip(params_grads, rules, strict=True)
        ]
        self.learning_rate.end_step(rate)
        for (parameter, _), (value, entry) in zip(params_grads, stepped, strict=True):
            parameter.value, entries[parameter.name] = value, entry
        self.entries = entries
