"""What both documented averages share: parameters that are replaced by averages for a while, and brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from optimetry.reference.errors import ArgumentError, StateError, UsageError
from optimetry.reference.precision import working
from optimetry.reference.programs.executor import Executor, Scope
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Variable,
    default_main_program,
    default_startup_program,
)
from optimetry.reference.rule import Array
from optimetry.reference.states import check_state


class Applied:
    """Averages of the trainable parameters of a program, kept in the executor's scope as an optimizer's state is.

    A subclass sets ``_rule``, which starts and updates the state, and returns the averages of it. Averages of float16
    and bfloat16 parameters are kept in float32: in bfloat16 a decay of 0.999 would be 1.

    Args:
        label: the name of the documented class, for error texts.
    """

    _rule: Any

    def __init__(self, label: str) -> None:
        self._label = label
        self._averaged: list[Parameter] = []
        self._held: str = ""  # the name of the state's variable; its value is None before the first update
        self._scope: Callable[[], Scope | None] = lambda: None  # of the executor that ran last
        self._originals: WeakKeyDictionary[Scope, dict[str, Array]] = WeakKeyDictionary()
        self._depths: WeakKeyDictionary[Scope, int] = WeakKeyDictionary()

    @property
    def _state(self) -> Any:
        scope = self._scope()
        return None if scope is None else scope.values.get(self._held)

    @_state.setter
    def _state(self, state: Any) -> None:
        scope = self._scope()
        if scope is None:
            raise StateError(f"{self._label}: there is no state to replace yet: run the startup program first")
        scope.values[self._held] = state

    def apply(self, executor: Executor, need_restore: bool = True) -> AbstractContextManager[None]:
        """Put the averages into the parameters inside ``with``; the averages themselves stay as they are.

        Applied again before `restore`, be it inside the first ``with``, the same averages are put in again, and
        `restore` still brings back the parameters of training.

        Args:
            executor: the parameters in its scope are replaced.
            need_restore: whether the end of ``with``, also through an exception, brings the parameters back.

        Raises:
            UsageError: there was no update yet, or the executor has no such parameters; nothing has changed.
            ArgumentError: an argument is not what it must be.
        """
        self._check_executor(executor)
        if not isinstance(need_restore, bool | np.bool_):
            raise ArgumentError(f"{self._label}: need_restore = {need_restore!r}, must be True or False")
        for parameter in self._averaged:
            if parameter.name not in executor.scope.values:
                raise UsageError(
                    f"{self._label}: {parameter.name} has no value in this executor: run the startup program"
                )
        if executor.scope.values.get(self._held) is None:
            raise UsageError(f"{self._label}: apply() before any update: run the training program first")
        return self._inside(executor.scope, bool(need_restore))

    def restore(self, executor: Executor) -> None:
        """Bring back the parameters that `apply` has replaced, bit for bit.

        Raises:
            UsageError: nothing is applied to the parameters in this executor's scope.
        """
        self._check_executor(executor)
        if executor.scope not in self._originals:
            raise UsageError(f"{self._label}: restore() without apply(): no average is in the executor's parameters")
        executor.scope.values.update(self._originals.pop(executor.scope))

    @contextmanager
    def _inside(self, scope: Scope, need_restore: bool) -> Iterator[None]:
        self._scope = ref(scope)
        averages = {
            parameter.name: np.asarray(average).astype(parameter.dtype)
            for parameter, average in zip(self._averaged, self._averages(), strict=True)
        }
        self._originals.setdefault(scope, {name: np.array(scope.values[name]) for name in averages})
        scope.values.update(averages)
        self._depths[scope] = self._depths.get(scope, 0) + 1
        try:
            yield
        finally:
            self._depths[scope] -= 1
            if need_restore and not self._depths[scope]:
                scope.values.update(self._originals.pop(scope, {}))

    def _append_update(self, inputs: Sequence[Variable] = ()) -> None:
        """Append to the default programs: the update of the averages in each run, and their reset at startup.

        Args:
            inputs: variables with one number, which the update gets beside the values of the parameters.
        """
        program, startup = default_main_program(), default_startup_program()
        parameters = [parameter for parameter in program.all_parameters() if parameter.trainable]
        if not parameters:
            raise UsageError(f"{self._label}: the program has no trainable parameters to average")
        if self._averaged and self._averaged != parameters:
            raise UsageError(f"{self._label}: averages the parameters of another program already")
        self._held = self._held or program.unique(self._label)
        if self._held not in program.variables:
            program.variable(self._held, (), object, persistable=True, stop_gradient=True)
        if self._held not in startup.variables:
            there = startup.variable(self._held, (), object, persistable=True, stop_gradient=True)
            startup.append(Operator("initialize", self._forget, (), (there,), per_scope=True))
        held = program.variables[self._held]
        run = self._run_update(len(parameters))
        program.append(Operator("average", run, (held, *parameters, *inputs), (held,), "optimize", per_scope=True))
        self._averaged = parameters

    def _run_update(self, count: int) -> Callable[..., Any]:
        def run(scope: Scope, state: Any, *values: Any) -> Any:
            self._scope = ref(scope)
            parameters = [working(_held(value)) for value in values[:count]]
            numbers = (np.asarray(value).item() for value in values[count:])
            return self._rule.update(state or self._rule.start(parameters), parameters, *numbers)

        return run

    def _forget(self, scope: Scope) -> None:
        self._scope = ref(scope)

    def _check_executor(self, executor: Any) -> None:
        if not isinstance(executor, Executor):
            raise ArgumentError(f"{self._label}: executor = {executor!r}, must be an Executor")

    def _averages(self) -> list[Array]:
        """The averages that the state stands for, in the order of the parameters."""
        return self._rule.averages(self._state)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        numbers = getattr(self, "_rule", None)
        arguments = {} if numbers is None else {field.name: getattr(numbers, field.name) for field in fields(numbers)}
        return f"{self._label}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    # State dicts: scalars by name, and lists of arrays by parameter and name.

    def state_dict(self) -> dict[str, Any]:
        """Copies of what the averages are computed from; empty before the first update."""
        return {} if self._state is None else self._saved(self._state._asdict())

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned, with the same bits.

        Raises:
            StateError: it belongs to something else, or is not whole; nothing has changed.
        """
        start = self._rule.start([_held(np.zeros(p.shape, p.dtype)) for p in self._averaged])
        self._state = type(start)(**self._loaded(state_dict, start._asdict())) if state_dict != {} else None

    def _saved(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        saved: dict[str, Any] = {}
        for name, value in fields.items():
            if isinstance(value, list):
                saved |= {f"{p.name}_{name}": np.array(array) for p, array in zip(self._averaged, value, strict=True)}
            else:
                saved[name] = value
        return saved

    def _loaded(self, saved: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a saved state; ``like`` holds the kinds, shapes and dtypes they must have.

        Raises:
            StateError: a key is missing or unknown, or a value is of another kind, shape or dtype.
        """
        check_state(self._label, saved, self._saved(like))
        return {
            name: [working(saved[f"{p.name}_{name}"]) for p in self._averaged]
            if isinstance(value, list)
            else type(value)(saved[name])
            for name, value in like.items()
        }


def _held(value: Array) -> Array:
    """A parameter's value in the dtype in which it is averaged."""
    return np.asarray(value).astype(np.float32) if value.dtype.itemsize < np.dtype(np.float32).itemsize else value
