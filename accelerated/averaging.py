"""Averages of parameters, kept beside them: one pass over memory for each update, and one to apply.

The averages of float16 and bfloat16 parameters are kept in float32.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.inplace import InPlace, Options, zeros
from optimetry.accelerated.kernels.kernel import PARAM, Kernel, Pass, Real
from optimetry.accelerated.validation import as_array
from optimetry.reference.averaging.window import FOLD
from optimetry.reference.declaration import Interval
from optimetry.reference.domains import real, whole
from optimetry.reference.errors import ArrayError, HyperparameterError, UsageError

NUMBERS = "numbers"
"""The state beside the slots: the number of updates, and any other number that all arrays share."""


def decayed(e: Real, w: Real, decay: Real, rest: Real) -> tuple[Real]:
    """``d e + (1 - d) w``."""
    return (decay * e + rest * w,)


def corrected(e: Real, w: Real, weight: Real) -> tuple[Real]:
    """``e / (1 - prod d)``, in place of what is in the parameter."""
    return (e / weight,)


def summed(total: Real, w: Real) -> tuple[Real]:
    """``s + w``."""
    return (total + w,)


def folded(recent: Real, total: Real) -> tuple[Real, Real]:
    """``s2 += s1; s1 = 0``."""
    return recent - recent, total + recent


def closed(recent: Real, total: Real, previous: Real) -> tuple[Real, Real, Real]:
    """``s3 = s1 + s2; s1 = s2 = 0``: close a window."""
    return recent - recent, total - total, recent + total


def mean(recent: Real, total: Real, previous: Real, w: Real, number: Real) -> tuple[Real]:
    """``(s1 + s2 + s3) / n``, in place of what is in the parameter."""
    return ((recent + total + previous) / number,)


DECAYED_CUDA = "e = decay * e + rest * w;"
CORRECTED_CUDA = "w = e / weight;"
SUMMED_CUDA = "total = total + w;"
FOLDED_CUDA = """
    total = total + recent;
    recent = recent - recent;
"""
CLOSED_CUDA = """
    previous = recent + total;
    recent = recent - recent;
    total = total - total;
"""
MEAN_CUDA = "w = (recent + total + previous) / number;"


class Averaged(InPlace, ABC):
    """Parameters that can be replaced by their averages, and restored.

    The parameters to restore are kept in NumPy's memory, so on a device ``apply`` and ``restore`` copy there and back.

    Attributes:
        updates: the number of updates of the averages.

    Class attributes:
        name: the name that error texts begin with.
        kernels: the kernels by name.
        slots: the arrays beside each parameter.
        numbers: the attributes that belong to the state, each with the interval that it is in.
    """

    name: str
    kernels: Mapping[str, Kernel]
    slots: tuple[str, ...]
    numbers: Mapping[str, str]

    def __init__(self, parameters: Sequence[Array], **options: Unpack[Options]) -> None:
        self.updates = 0
        super().__init__(self.name, parameters, self.kernels, zeros(*self.slots), **options)
        self._training: list[Array] | None = None

    def apply(self) -> None:
        """Replace the parameters by their averages; a second time changes nothing.

        Raises:
            UsageError: there was no update yet.
        """
        if not self.updates:
            raise UsageError(f"{self.label}: apply() before any update()")
        if self._training is None:
            self._training = [self.device.copied(array) for array in self.arrays]
        self._write_averages()

    def restore(self) -> None:
        """Restore the parameters that `apply` has replaced, bit for bit.

        Raises:
            UsageError: nothing is applied.
        """
        if self._training is None:
            raise UsageError(f"{self.label}: restore() without apply()")
        for array, before in zip(self.arrays, self._training, strict=True):
            self.device.assign(array, before)
        self._training = None

    def state_dict(self) -> dict[str, list[Array]]:
        """Return copies of all that a later run needs to continue bit for bit, with any engine, as NumPy arrays."""
        return self._slot_copies(self.slots) | {NUMBERS: [np.array(getattr(self, name)) for name in self.numbers]}

    def load_state_dict(self, state: Mapping[str, Sequence[Array]]) -> None:
        """Continue from what `state_dict` returned.

        Raises:
            ArrayError: a slot is missing or unknown, or an array or a number does not fit. Nothing has been changed.
        """
        self._check_state(state, self.slots, NUMBERS)
        saved = [as_array(f"{self.label}: {NUMBERS} {i}", number) for i, number in enumerate(state[NUMBERS])]
        if len(saved) != len(self.numbers) or any(number.shape for number in saved):
            raise ArrayError(f"{self.label}: {NUMBERS} = {saved}, must be {len(self.numbers)} numbers")
        for i, ((name, interval), number) in enumerate(zip(self.numbers.items(), saved, strict=True)):
            kinds, allowed = ("f", "a float") if isinstance(getattr(self, name), float) else ("iu", "a whole number")
            if number.dtype.kind not in kinds or number.item() not in Interval(interval):
                raise ArrayError(f"{self.label}: {NUMBERS} {i} is {number!r}, must be {allowed} in {interval}")
        self._assign_slots(state, self.slots)
        for name, number in zip(self.numbers, saved, strict=True):
            setattr(self, name, number.item())

    @abstractmethod
    def _write_averages(self) -> None:
        """Write the averages into the parameters."""

    def _check_training(self) -> None:
        if self._training is not None:
            raise UsageError(f"{self.label}: update() of applied averages, must be after restore()")


class ExponentialMovingAverage(Averaged):
    """``e = d e + (1 - d) w`` from 0, applied as ``e / (1 - prod d)``.

    Args:
        parameters: arrays that training updates in place, as `InPlace` takes them.
        decay: the largest decay, in [0, 1).
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: the decay is not in [0, 1).
        ArrayError: an array that cannot be updated in place.
    """

    name = "exponential_moving_average"
    slots = ("average",)
    numbers = {"updates": "[0, inf)", "_product": "[0, 1]"}  # noqa: RUF012 - never changed
    kernels = {  # noqa: RUF012 - never changed
        "update": Kernel((Pass(decayed, ("average", PARAM), ("average",), lambda d, t: (d, 1 - d), DECAYED_CUDA),)),
        "apply": Kernel((Pass(corrected, ("average", PARAM), (PARAM,), lambda weight, t: (weight,), CORRECTED_CUDA),)),
    }

    def __init__(self, parameters: Sequence[Array], decay: float = 0.999, **options: Unpack[Options]) -> None:
        self._decay = real(self.name, "decay", decay, "[0, 1)")
        self._product = 1.0
        super().__init__(parameters, **options)

    def update(self, thres_steps: int | None = None) -> None:
        """Update the averages with the decay, or with ``(1 + thres_steps) / (10 + thres_steps)`` where that is smaller.

        Raises:
            HyperparameterError: ``thres_steps`` is not a whole number in [0, inf). Nothing has been changed.
            UsageError: the averages are applied.
        """
        self._check_training()
        decay = self._decay
        if thres_steps is not None:
            steps = whole(self.name, "thres_steps", thres_steps, "[0, inf)")
            decay = min(decay, (1 + steps) / (10 + steps))
        self._run("update", decay)
        self._product *= decay
        self.updates += 1

    def _write_averages(self) -> None:
        self._run("apply", 1 - self._product)


class ModelAverage(Averaged):
    """The mean of the parameters over the current and the previous window of updates.

    Args:
        parameters: arrays that training updates in place, as `InPlace` takes them.
        average_window_rate: the window's length as a share of all updates, in [0, inf).
        min_average_window: the least number of updates in a window.
        max_average_window: no window need be longer than this many updates.
        fold: after so many updates, in [1, inf), the running sum is folded into a second one.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: an argument is outside its interval, or the minimum is above the maximum.
        ArrayError: an array that cannot be updated in place.
    """

    name = "model_average"
    slots = ("recent", "folded", "previous")
    numbers = dict.fromkeys(("updates", "_in_window", "_in_previous"), "[0, inf)")
    kernels = {  # noqa: RUF012 - never changed
        "update": Kernel((Pass(summed, ("recent", PARAM), ("recent",), lambda lr, t: (), SUMMED_CUDA),)),
        "fold": Kernel((Pass(folded, slots[:2], slots[:2], lambda lr, t: (), FOLDED_CUDA),)),
        "close": Kernel((Pass(closed, slots, slots, lambda lr, t: (), CLOSED_CUDA),)),
        "apply": Kernel((Pass(mean, (*slots, PARAM), (PARAM,), lambda number, t: (number,), MEAN_CUDA),)),
    }

    def __init__(
        self,
        parameters: Sequence[Array],
        average_window_rate: float,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        *,
        fold: int = FOLD,
        **options: Unpack[Options],
    ) -> None:
        rate = real(self.name, "average_window_rate", average_window_rate, "[0, inf)")
        low = whole(self.name, "min_average_window", min_average_window, "[1, inf)")
        high = whole(self.name, "max_average_window", max_average_window, "[1, inf)")
        if low > high:
            raise HyperparameterError(
                f"{self.name}: min_average_window = {low}, must be at most max_average_window = {high}"
            )
        self._rate, self._least, self._longest = rate, low, high
        self._fold = whole(self.name, "fold", fold, "[1, inf)")
        self._in_window = self._in_previous = 0
        super().__init__(parameters, **options)

    def update(self) -> None:
        """Update the averages.

        Raises:
            UsageError: the averages are applied.
        """
        self._check_training()
        self._run("update")
        self.updates, self._in_window = self.updates + 1, self._in_window + 1
        if self.updates % self._fold == 0:
            self._run("fold")
        if self._in_window >= max(self._least, min(self._longest, self.updates * self._rate)):
            self._run("close")
            self._in_previous, self._in_window = self._in_window, 0

    def _write_averages(self) -> None:
        self._run("apply", float(self._in_window + self._in_previous))
