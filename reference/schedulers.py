"""Learning-rate schedules, functions of the number of a step.

Any object with ``get_lr()`` and ``step()`` serves an optimizer as a scheduler; these are those of the documents'
examples. Who advances it differs between the pages: page 001 calls ``scheduler.step()`` after the optimizer's step,
page 003 leaves it to the optimizer. ``automatic`` says which, and has the default of the page that names the schedule.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeGuard

from optimetry.reference.domains import real, whole
from optimetry.reference.errors import ArgumentError


class Scheduler(Protocol):
    """The methods of a scheduler that an optimizer calls."""

    def get_lr(self) -> float:
        """The learning rate of the next step."""
        ...

    def step(self) -> object:
        """Go on to the next learning rate."""
        ...


def is_scheduler(value: object) -> TypeGuard[Scheduler]:
    """Whether an object has the methods that an optimizer calls."""
    return all(callable(getattr(value, name, None)) for name in ("get_lr", "step"))


class LRScheduler(ABC):
    """The base of every schedule here.

    Args:
        begin: the number of the first step.
        automatic: whether the optimizer calls `step` after each of its steps.
        verbose: whether each new learning rate is printed.

    Attributes:
        last_epoch: the number of the present step; what a state dict keeps as ``global_step``.
    """

    def __init__(self, *, begin: int = 0, automatic: bool = False, verbose: bool = False) -> None:
        self.last_epoch = whole(self.label, "begin", begin, "[0, inf)")
        self.automatic = automatic
        self.verbose = verbose
        self._tell()

    @property
    def label(self) -> str:
        """The name in error texts."""
        return type(self).__name__

    @abstractmethod
    def rate(self, epoch: int) -> float:
        """The learning rate of a step."""

    def get_lr(self) -> float:
        """The learning rate of the present step."""
        return self.rate(self.last_epoch)

    def step(self) -> None:
        """Go on to the next step."""
        self.last_epoch += 1
        self._tell()

    def __repr__(self) -> str:
        arguments = {name: value for name, value in vars(self).items() if name != "verbose"}
        return f"{self.label}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    def _tell(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {self.label} set learning rate to {self.get_lr()}.")


class StepDecay(LRScheduler):
    """Multiplied by ``gamma`` every ``step_size`` steps: ``learning_rate * gamma ** (epoch // step_size)``."""

    def __init__(self, learning_rate: float, step_size: int, gamma: float = 0.1, **options: Any) -> None:
        self.learning_rate = real(self.label, "learning_rate", learning_rate, "[0, inf)")
        self.step_size = whole(self.label, "step_size", step_size, "[1, inf)")
        self.gamma = real(self.label, "gamma", gamma, "[0, inf)")
        super().__init__(**options)

    def rate(self, epoch: int) -> float:
        """The learning rate of a step."""
        return float(self.learning_rate * self.gamma ** (epoch // self.step_size))


class MultiStepDecay(LRScheduler):
    """Multiplied by ``gamma`` at each milestone: ``learning_rate * gamma ** (milestones up to epoch)``."""

    def __init__(self, learning_rate: float, milestones: Sequence[int], gamma: float = 0.1, **options: Any) -> None:
        self.learning_rate = real(self.label, "learning_rate", learning_rate, "[0, inf)")
        self.milestones = _increasing(self.label, "milestones", milestones)
        self.gamma = real(self.label, "gamma", gamma, "[0, inf)")
        super().__init__(**options)

    def rate(self, epoch: int) -> float:
        """The learning rate of a step."""
        passed = sum(milestone <= epoch for milestone in self.milestones)
        return float(self.learning_rate * self.gamma**passed)


class PiecewiseDecay(LRScheduler):
    """``values[i]`` from ``boundaries[i - 1]`` on; the optimizer advances it (``fluid.dygraph.PiecewiseDecay``).

    Args:
        boundaries: increasing step numbers.
        values: one more learning rate than there are boundaries.
        begin: the number of the first step.
        **options: those of `LRScheduler`.
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], begin: int = 0, **options: Any) -> None:
        self.boundaries = _increasing(self.label, "boundaries", boundaries)
        if not isinstance(values, list | tuple):
            raise ArgumentError(f"{self.label}: values = {values!r}, must be a list of learning rates")
        self.values = [real(self.label, "values", value, "[0, inf)") for value in values]
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: {len(self.values)} values for {len(self.boundaries)} boundaries, must be one more"
            )
        super().__init__(begin=begin, **{"automatic": True} | options)

    def rate(self, epoch: int) -> float:
        """The learning rate of a step."""
        return self.values[sum(boundary <= epoch for boundary in self.boundaries)]


class NoamDecay(LRScheduler):
    r"""Rises for ``warmup_steps`` steps, then falls with the root of the step.

    .. math:: \eta = \eta_0 d^{-1/2} \min(s^{-1/2}, s w^{-3/2})

    Step 0 has the learning rate 0. Source: Vaswani et al. (2017), section 5.3.

    Args:
        d_model: :math:`d`, in (0, inf).
        warmup_steps: :math:`w`, a whole number of at least 1.
        learning_rate: :math:`\eta_0`.
        **options: those of `LRScheduler`.
    """

    def __init__(self, d_model: float, warmup_steps: int, learning_rate: float = 1.0, **options: Any) -> None:
        self.d_model = real(self.label, "d_model", d_model, "(0, inf)")
        self.warmup_steps = whole(self.label, "warmup_steps", warmup_steps, "[1, inf)")
        self.learning_rate = real(self.label, "learning_rate", learning_rate, "[0, inf)")
        super().__init__(**options)

    def rate(self, epoch: int) -> float:
        """The learning rate of a step."""
        rising = epoch * self.warmup_steps**-1.5
        falling = epoch**-0.5 if epoch else math.inf
        return float(self.learning_rate * self.d_model**-0.5 * min(falling, rising))


def _increasing(owner: str, name: str, values: Sequence[int]) -> list[int]:
    if not isinstance(values, list | tuple):
        raise ArgumentError(f"{owner}: {name} = {values!r}, must be a list of step numbers")
    steps = [whole(owner, name, value, "[0, inf)") for value in values]
    if any(earlier >= later for earlier, later in pairwise(steps)):
        raise ArgumentError(f"{owner}: {name} = {steps}, must increase")
    return steps
