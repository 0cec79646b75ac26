"""The accelerated optimizer: a documented rule bound to arrays that it updates in place."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from optimetry.accelerated.devices.interface import address_of
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.engines.engine import Executable
from optimetry.accelerated.inplace import InPlace, Options
from optimetry.accelerated.kernels import kernel_of
from optimetry.accelerated.plan import Plan
from optimetry.accelerated.rows import Rows
from optimetry.accelerated.validation import as_array, checked_gradient
from optimetry.reference.declaration import is_finite
from optimetry.reference.errors import ArrayError, HyperparameterError, UsageError
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named

MASTER, STEP = "master", "step"
"""The state beside the slots: the float32 copies of narrow parameters, and the numbers of updates."""


class Accelerated(InPlace):
    """A documented rule over parameters that are updated in place, all of them in one launch for each dtype.

    Args:
        rule: a rule, or the name of one.
        parameters: the arrays, as `InPlace` takes them.
        hyper: the hyperparameters by documented name, where ``rule`` is a name; those left out take their defaults.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters, which are then the real ones: each step
            updates the copy and rounds it into the parameter. Wider parameters need none.
        lazy_mode: for adam alone: where a gradient is given by `Rows`, the other rows keep parameter and moments; by
            default they have gradient zero, and their moments move them.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Attributes:
        rule: the rule.
        parameters: the arrays; the other attributes are those of `InPlace`.
        slots: those of the rule's slots that its kernel needs with these hyperparameters; no others are kept.

    Raises:
        HyperparameterError: as the rule does.
        UnknownOptimizerError: no such rule.
        UsageError: the rule has no kernel, or there is ``hyper`` beside a rule that is no name, or ``lazy_mode`` with a
            rule other than adam; the other errors are those of `InPlace`.

    Example:
        >>> w = np.ones(3)
        >>> optimizer = Accelerated("momentum", [w], {"momentum": 0.9})
        >>> optimizer.step([np.ones(3)], 0.5)
        >>> w
        array([0.5, 0.5, 0.5])
    """

    def __init__(
        self,
        rule: Rule | str,
        parameters: Sequence[Array],
        hyper: Mapping[str, Any] | None = None,
        *,
        multi_precision: bool = False,
        lazy_mode: bool = False,
        **options: Unpack[Options],
    ) -> None:
        if not isinstance(rule, Rule | str):
            raise UsageError(f"Accelerated: rule = {rule!r}, must be a rule or the name of one")
        if isinstance(rule, Rule) and hyper is not None:
            raise UsageError(f"{rule.name}: hyper is for a rule given by name; this one has its own")
        self.rule = rule if isinstance(rule, Rule) else rule_named(rule).of(hyper or {})
        if lazy_mode and self.rule.name != "adam":
            raise UsageError(f"{self.rule.name}: lazy_mode = {lazy_mode!r}, must be False: only adam has a lazy mode")
        self._kernel = kernel_of(self.rule)
        self._by_rows = self._kernel.by_rows or lazy_mode
        self.slots = tuple(slot for slot in self.rule.slots if slot in self._kernel.slots)
        kernels = {"step": self._kernel}
        super().__init__(
            self.rule.name, parameters, kernels, self._initial_state, multi_precision=multi_precision, **options
        )
        self.parameters = self.arrays
        has_master = any(group.arena.master is not None for group in self._groups)
        self._slots = (*self.slots, MASTER) if has_master else self.slots

    def step(self, grads: Sequence[Array | Rows | None], lr: float | None = None) -> None:
        """Update every parameter that has a gradient, and its state; all others keep their bits.

        Arrays are read where they lie. One that is not contiguous, or shares memory with a parameter, is copied first.
        Arrays that are the same objects as in the step before are not checked again: if the same arrays are filled
        for each step, a thousand of them cost no more than one. So the gradients of a step are kept until the next.

        Args:
            grads: for each parameter an array of its dtype and shape, the gradients of some `Rows`, or None.
            lr: the learning rate; by default the documented one, where there is one.

        Raises:
            ArrayError: a gradient of another dtype or shape, or their number is wrong. Nothing has been changed.
            HyperparameterError: the learning rate is not a finite number. Nothing has been changed.
            MemoryError: there is no memory for the tables of a step. Nothing has been changed.
        """
        rate = self._rate(lr)
        grads = list(grads)
        try:
            plans = self._kept_plans("step", grads, lambda: self._planned(grads))
            prepared = [(executable.ready(plan, rate), plan) for executable, plan in plans]
        except MemoryError as error:
            raise self._out_of_memory("for a step; nothing has been changed", error) from error
        for run, plan in prepared:
            if len(plan.tensor):
                run()
            plan.finish()

    def _rate(self, lr: float | None) -> float:
        if type(lr) is float and math.isfinite(lr):  # at once, since to look up abstract types takes longer
            return lr
        rate = self.rule.learning_rate if lr is None else lr
        value: Any = rate  # the caller may pass anything: the annotation is for readers
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not is_finite(value):
            raise HyperparameterError(f"{self.rule.name}: learning_rate = {lr!r}, must be a finite number")
        return float(value)

    def _planned(self, grads: list[Any]) -> list[tuple[Executable, Plan]]:
        """Validate gradients and plan a step; those that lie in the parameters are copied."""
        self._check_count(grads, "gradients")
        checked = [
            checked_gradient(self.label, i, grad, parameter, self.device)
            for i, (grad, parameter) in enumerate(zip(grads, self.parameters, strict=True))
        ]
        if not self._by_rows:
            for i, grad in enumerate(checked):
                if isinstance(grad, Rows):
                    checked[i] = grad.dense(self.parameters[i].shape, self._place[i][0].dtypes, self.device)
        present = [i for i, grad in enumerate(checked) if grad is not None]
        addresses = np.zeros(len(grads), np.int64)
        addresses[present] = [address_of(_values(checked[i])) for i in present]
        sizes = np.array([_values(checked[i]).nbytes for i in present], np.int64)
        for place in self._memory.shared(addresses[present], sizes):
            i = present[place]
            grad = checked[i]
            checked[i] = Rows(grad.ids, grad.values.copy()) if isinstance(grad, Rows) else _values(grad).copy()
            addresses[i] = address_of(_values(checked[i]))
        return self._plans("step", checked, grads, addresses)

    def state_dict(self) -> dict[str, list[Array]]:
        """Return copies of all that a later run needs to continue bit for bit, with any engine, as NumPy arrays.

        One array for each parameter under the name of each of ``slots``, in the shape of the parameter (a slot of
        several arrays has one axis more, one of a number for each tensor none, one of rows or columns theirs) and in
        float64 for float64 parameters, else in float32; under ``step`` the number of updates as 0-d int64; with
        ``multi_precision``, under ``master`` the float32 copies (of wider parameters: themselves).
        """
        places = [self._place[i] for i in range(len(self.parameters))]
        return self._slot_copies(self._slots) | {STEP: [np.array(arena.updates[at]) for arena, at in places]}

    def load_state_dict(self, state: Mapping[str, Sequence[Array]]) -> None:
        """Continue from what `state_dict` returned; master copies are rounded into the parameters.

        Raises:
            ArrayError: a slot is missing or unknown, or an array does not fit. Nothing has been changed.
        """
        self._check_state(state, self._slots, STEP)
        self._check_count(state[STEP], f"arrays of {STEP}")
        for i, saved in enumerate(state[STEP]):
            count = as_array(f"{self.label}: {STEP} {i}", saved)
            is_whole = count.shape == () and np.issubdtype(count.dtype, np.integer)
            if not is_whole or not 0 <= int(count) < 2**63:  # counts are kept as int64
                raise ArrayError(f"{self.label}: {STEP} {i} is {count!r}, must be a whole number in [0, 2**63)")
        self._kept.clear()  # which knows how often parameters have been updated
        self._assign_slots(state, self._slots)
        for array, parameter in zip(state.get(MASTER, ()), self.parameters, strict=False):
            self.device.assign(parameter, np.asarray(array))
        for i, count in enumerate(state[STEP]):
            arena, at = self._place[i]
            arena.updates[at] = count

    def _initial_state(self, like: Array) -> Mapping[str, Array]:
        """Return the initial slots; a slot that is a number fills an array."""
        initial = self.rule.initial_state(like)
        return {slot: initial[slot] + np.zeros_like(like) for slot in self.slots}

    def _slot(self, name: str, i: int) -> Array:
        arena, at = self._place[i]
        return arena.master_view(at) if name == MASTER else arena.view(name, at)


def _values(grad: Array | Rows | None) -> Array:
    assert grad is not None
    return grad.values if isinstance(grad, Rows) else grad
