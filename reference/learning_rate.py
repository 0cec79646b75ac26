"""The learning rate of an optimizer: a number, a variable of a program or an eager one, or a scheduler."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.reference.declaration import is_finite
from optimetry.reference.errors import ArgumentError, SchedulerInUseError, StateError
from optimetry.reference.programs.program import Variable
from optimetry.reference.schedulers import Scheduler, is_scheduler

ALLOWED = "a finite number, a variable with one float or a scheduler with get_lr() and step()"


class LearningRate:
    """Where an optimizer takes the learning rate of a step from.

    Args:
        optimizer: the optimizer's name, for error texts.
        source: a number; a `Variable` of a program, whose value is in the executor's scope; an eager one, that has a
            ``value``; or a scheduler.

    Raises:
        ArgumentError: it is none of these.
    """

    def __init__(self, optimizer: str, source: Any) -> None:
        self.optimizer = optimizer
        self.source = self._checked("learning_rate", source)
        self._last: float | None = None

    @property
    def scheduler(self) -> Scheduler | None:
        """The scheduler, where there is one."""
        return self.source if is_scheduler(self.source) else None

    @property
    def variable(self) -> Variable | None:
        """The variable of a program, where it is one."""
        return self.source if isinstance(self.source, Variable) else None

    def current(self) -> float:
        """The learning rate of the present step: the number, the variable's value or what the scheduler says.

        Where the optimizer itself advances the scheduler, it is that of the last step, if there was one.

        Raises:
            ArgumentError: it is a variable of a program that no step has read yet.
        """
        if self._last is not None:
            return self._last
        if self.variable is not None:
            raise ArgumentError(f"{self.optimizer}: {self.variable.name} is read when a program runs; none has run yet")
        return self.now()

    def now(self) -> float:
        """The learning rate of the step that begins.

        Raises:
            ArgumentError: it is a variable of a program, which an eager step cannot read, or not finite.
        """
        if self.scheduler is not None:
            return self._checked_number("the scheduler's learning rate", self.scheduler.get_lr())
        if self.variable is not None:
            raise ArgumentError(
                f"{self.optimizer}: learning_rate = {self.variable!r} is read when a program runs; an eager step needs "
                f"a number, an eager tensor or a scheduler"
            )
        now = self.source if isinstance(self.source, float) else _number(self.source.value)
        return self._checked_number("learning_rate", now)

    def upcoming(self) -> float:
        """The learning rate of the next step, as far as it is known: of a variable of a program the one last read.

        Raises:
            ArgumentError: it is a variable of a program that no step has read yet, or not finite.
        """
        return self.now() if self.variable is None else self.current()

    def read(self, value: Any) -> float:
        """The learning rate of the step that begins, from the value of the variable of a program."""
        return self._checked_number(f"the value of {self.source.name}", _number(value))

    def end_step(self, rate: Any) -> None:
        """End a step with this rate: keep it for `current` where needed, and advance an automatic scheduler."""
        scheduler = self.scheduler
        if scheduler is not None and getattr(scheduler, "automatic", False):
            scheduler.step()
        elif self.variable is None:
            return
        self._last = float(rate)

    def set(self, value: Any) -> None:
        """Set a number or a variable.

        Raises:
            SchedulerInUseError: a scheduler sets the learning rate.
            ArgumentError: it is no finite number and no variable.
        """
        if self.scheduler is not None:
            raise SchedulerInUseError(
                f"{self.optimizer}: set_lr({value!r}) while {type(self.scheduler).__name__} sets the learning rate; "
                f"give a new one to set_lr_scheduler instead"
            )
        if is_scheduler(value):
            raise ArgumentError(f"{self.optimizer}: set_lr got a scheduler; give it to set_lr_scheduler")
        checked = self._checked("value", value)
        if isinstance(checked, Variable) and not checked.persistable:
            raise ArgumentError(f"{self.optimizer}: value = {value!r}, must be a persistable variable")
        self.source, self._last = checked, None

    def set_scheduler(self, scheduler: Any) -> None:
        """Set a scheduler, also where there is one already.

        Raises:
            ArgumentError: it is no scheduler.
        """
        if not is_scheduler(scheduler):
            raise ArgumentError(f"{self.optimizer}: scheduler = {scheduler!r}, must have get_lr() and step()")
        self.source, self._last = scheduler, None

    @property
    def global_step(self) -> int | None:
        """The step that the scheduler counts, or None where none does."""
        return getattr(self.scheduler, "last_epoch", None)

    @global_step.setter
    def global_step(self, step: int | None) -> None:
        if step is not None:
            scheduler: Any = self.scheduler
            scheduler.last_epoch = step
            self._last = None

    def checked_global_step(self, step: Any) -> int | None:
        """A saved step, where the scheduler counts steps, else None.

        Raises:
            StateError: it is missing, or there is no scheduler that counts, or it is no step.
        """
        if self.global_step is None and step is None:
            return None
        if step is None:
            raise StateError(f"{self.optimizer}: the state dict lacks 'global_step', the step of the scheduler")
        if self.global_step is None:
            raise StateError(f"{self.optimizer}: the state dict has 'global_step', but no scheduler here counts steps")
        if isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0:
            raise StateError(f"{self.optimizer}: 'global_step' = {step!r}, must be an integer in [0, inf)")
        return int(step)

    def _checked(self, argument: str, source: Any) -> Any:
        if is_scheduler(source):
            return source
        if isinstance(source, Variable):
            if source.dtype.kind == "f" and all(length == 1 for length in source.shape):
                return source
        elif isinstance(getattr(source, "value", None), np.ndarray | np.generic):
            if source.value.dtype.kind == "f" and source.value.size == 1:
                return source
        else:
            return self._checked_number(argument, source)
        raise ArgumentError(f"{self.optimizer}: {argument} = {source!r}, must be {ALLOWED}")

    def _checked_number(self, argument: str, value: Any) -> float:
        is_number = isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)
        if is_number and is_finite(value):
            return float(value)
        raise ArgumentError(f"{self.optimizer}: {argument} = {value!r}, must be {ALLOWED}")

    def __repr__(self) -> str:
        return f"{self.source!r}"


def _number(value: Any) -> float:
    """The one element of an array."""
    return float(np.asarray(value).reshape(-1)[0])
