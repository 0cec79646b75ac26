"""The updates of parameters in programs: operators over variables that hold the state of an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import ref

import numpy as np

from optimetry.reference.accumulators import Accumulators, Entry, ParameterLike
from optimetry.reference.errors import ArgumentError, StateError
from optimetry.reference.learning_rate import LearningRate
from optimetry.reference.programs.executor import Scope
from optimetry.reference.programs.program import Operator, Parameter, Program, Variable
from optimetry.reference.rule import Array, Rule


class ProgramUpdates:
    """The updates that one optimizer has appended to programs.

    Its state lives in the scope of the executor, in persistable variables that the startup program sets up: so every
    executor has a state of its own, and what a run changes is in its scope.

    Args:
        accumulators: how a parameter is updated.
        learning_rate: where the learning rate comes from.
        rule_for: the rule of a parameter.
        checked: the gradient of a parameter, or an error.

    Attributes:
        parameters: the parameters that are updated, by name.
    """

    def __init__(
        self,
        accumulators: Accumulators,
        learning_rate: LearningRate,
        rule_for: Callable[[ParameterLike], Rule],
        checked: Callable[[ParameterLike, Any], Any],
    ) -> None:
        self.accumulators = accumulators
        self.learning_rate = learning_rate
        self.rule_for = rule_for
        self.checked = checked
        self.parameters: dict[str, Parameter] = {}
        self._names: dict[str, dict[str, str]] = {}  # of the state's variables, by parameter and part
        self._scope: Callable[[], Scope | None] = lambda: None

    def append(self, params_grads: Iterable[tuple[Parameter, Variable]], startup: Program) -> None:
        """Append the learning rate and the update of each parameter, and to the startup program its first state."""
        params_grads = list(params_grads)
        program = params_grads[0][0].program
        label = self.accumulators.rule.name
        rate = program.variable(program.unique(f"{label}.learning_rate"), (), np.float64)
        source = self.learning_rate.variable
        sources = () if source is None else (source,)
        read = self._rate_from(source)
        end = self.learning_rate.end_step
        program.append(Operator("learning_rate", read, sources, (rate,), "optimize", per_scope=True, at_end=end))
        updated, all_names = dict(self.parameters), dict(self._names)
        for parameter, grad in params_grads:
            first = self.accumulators.parts(self.accumulators.first(np.zeros(parameter.shape, parameter.dtype)))
            names = all_names.get(parameter.name) or {
                part: program.unique(self.accumulators.key(parameter.name, part)) for part in first
            }
            held = tuple(_declared(program, names[part], array) for part, array in first.items())
            self._start(startup, names, first)
            slots = ("Param", "Grad", "LearningRate", *first, "ParamOut", *(f"{part}Out" for part in first))
            update = self._update_of(parameter, tuple(first))
            inputs, outputs = (parameter, grad, rate, *held), (parameter, *held)
            program.append(Operator(label, update, inputs, outputs, "optimize", slots=slots))
            updated[parameter.name], all_names[parameter.name] = parameter, names
        self.parameters, self._names = updated, all_names

    def _rate_from(self, source: Variable | None) -> Callable[..., Any]:
        """The learning rate of a run, whose source may no longer be the one that `append` has seen."""

        def rate(scope: Scope, *value: Any) -> Any:
            self._scope = ref(scope)
            held, variable = self.learning_rate, self.learning_rate.variable
            if variable is not None:
                return np.asarray(held.read(value[0] if variable is source else scope.get(variable.name)))
            return np.asarray(held.now())

        return rate

    def _update_of(self, parameter: Parameter, parts: tuple[str, ...]) -> Callable[..., Any]:
        accumulators = self.accumulators

        def update(value: Array, grad: Any, rate: Any, *held: Array) -> tuple[Array, ...]:
            entry = accumulators.entry(dict(zip(parts, held, strict=True)))
            entry = entry if entry.updates else accumulators.first(value)
            rule = self.rule_for(parameter)
            new, after = accumulators.stepped(parameter, value, entry, self.checked(parameter, grad), float(rate), rule)
            return new, *accumulators.parts(after).values()

        return update

    def _start(self, startup: Program, names: Mapping[str, str], first: Mapping[str, Array]) -> None:
        """Append the operator that sets up the state of a parameter, once for each startup program."""
        if names["updates"] in startup.variables:
            return

        def initial(scope: Scope) -> Any:
            self._scope = ref(scope)
            return tuple(first.values()) if len(first) > 1 else first["updates"]

        outputs = tuple(_declared(startup, names[part], array) for part, array in first.items())
        startup.append(Operator("initialize", initial, (), outputs, per_scope=True))

    def entries(self) -> dict[str, Entry]:
        """The state in the scope that was used last, by name of parameter; empty before the first step."""
        scope = self._scope()
        if scope is None:
            return {}
        entries = {
            name: self.accumulators.entry({part: scope.get(held) for part, held in names.items()})
            for name, names in self._names.items()
            if names["updates"] in scope.values
        }
        return entries if any(entry.updates for entry in entries.values()) else {}

    def value(self, name: str) -> Any:
        """The value of a parameter in the scope that was used last; None where there is none."""
        scope = self._scope()
        return None if scope is None else scope.values.get(name)

    def put(self, entries: Mapping[str, Entry]) -> None:
        """Put the state into the scope that was used last.

        Raises:
            StateError: no program has run yet, so there is none.
        """
        if not entries:
            return
        scope = self._scope()
        if scope is None:
            label = self.accumulators.rule.name
            raise StateError(f"{label}: there is no state to replace yet: run the startup program first")
        for name, entry in entries.items():
            parts = self.accumulators.parts(entry)
            scope.values.update({self._names[name][part]: array for part, array in parts.items()})

    def forget(self) -> None:
        """Set the state in the scope that was used last back to that before the first step."""
        if self.entries():
            like = self.parameters.values()
            self.put({p.name: self.accumulators.first(np.zeros(p.shape, p.dtype)) for p in like})


def _declared(program: Program, name: str, like: Array) -> Variable:
    """The persistable variable of that name, made where the program has none."""
    if name not in program.variables:
        program.variable(name, like.shape, like.dtype, persistable=True, stop_gradient=True)
    return program.variables[name]


def checked_startup(label: str, startup: Any, default: Program) -> Program:
    """A startup program; the default one for None.

    Raises:
        ArgumentError: it is none.
    """
    if startup is None or isinstance(startup, Program):
        return default if startup is None else startup
    raise ArgumentError(f"{label}: startup_program = {startup!r}, must be a Program or None")
