"""Programs of fluid and their variables. What is built is kept: building takes longer than running, and leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array

SCOPES: list[Any] = []
"""Scopes that nothing uses any more: fluid never frees their tensors."""

IDLE = 256
"""Programs that are kept for the next run."""


class Held:
    """The variables of programs, in a scope: each begins as a program sets it, whatever was there before.

    Args:
        start: that program.
    """

    def __init__(self, start: Any) -> None:
        from paddle import fluid

        self._scope = SCOPES.pop() if SCOPES else fluid.Scope()
        self._place, self._start = fluid.CPUPlace(), start
        self.executor = fluid.Executor(self._place)

    def __del__(self) -> None:
        self._scope.drop_kids()
        SCOPES.append(self._scope)

    def begin(self) -> None:
        """Set all variables as they are before the first step."""
        self.run(self._start, {})

    def entered(self) -> Any:
        """Return a context in which programs use these variables."""
        from paddle import fluid

        return fluid.scope_guard(self._scope)

    def run(self, program: Any, fed: Mapping[str, Array], fetched: Sequence[str] = ()) -> list[Array]:
        """Run a program, and return the variables that are fetched."""
        with self.entered():
            values = self.executor.run(program, feed=dict(fed), fetch_list=list(fetched), use_program_cache=True)
        return [np.array(array) for array in values]

    def put(self, name: str, array: Array) -> None:
        """Set a variable."""
        self._scope.find_var(name).get_tensor().set(np.array(array), self._place)

    def value(self, name: str) -> Array:
        """Return a variable."""
        return np.array(self._scope.find_var(name).get_tensor())


class Pool:
    """Programs that were built for runs that have ended, by their keys; no two runs have the same at a time."""

    def __init__(self) -> None:
        self._idle: list[tuple[str, Any]] = []

    def taken(self, key: str, build: Callable[[], Any]) -> Any:
        """Return what was built for ``key``, or build it."""
        known = next((i for i, (other, _) in enumerate(self._idle) if other == key), None)
        return build() if known is None else self._idle.pop(known)[1]

    def give_back(self, key: str, built: Any) -> None:
        """Keep it, and forget what has been idle longest."""
        self._idle = [*self._idle[-IDLE + 1 :], (key, built)]


def parameter_like(array: Array, number: int) -> Any:
    """Return a parameter of this shape and dtype, which the program being built has then, if there is one."""
    from paddle import fluid

    return fluid.layers.create_parameter(list(array.shape), array.dtype.name, name=f"weight{number}")
