"""The accelerated optimizer: a documented rule bound to arrays that it updates in place."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.accelerated.arena import Arena
from optimetry.accelerated.devices.device import device_of
from optimetry.accelerated.dtypes import FORMATS, Array
from optimetry.accelerated.engines.engine import ENGINES, Engine, build
from optimetry.accelerated.kernels import kernel_of
from optimetry.accelerated.plan import Work
from optimetry.accelerated.rows import Rows
from optimetry.accelerated.validation import Memory, address_of, check_gradient, check_parameters
from optimetry.reference.errors import ArrayError, EngineUnavailableError, HyperparameterError, UsageError
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named

MASTER, STEP = "master", "step"
"""What a state holds beside the slots: the float32 copies of narrow parameters, and the numbers of updates."""


class Accelerated:
    """A documented rule over parameters that are updated in place, all of them in one launch for each dtype.

    Args:
        rule: a rule, or the name of one.
        parameters: contiguous, writeable arrays of float16, bfloat16, float32 or float64 that do not overlap: NumPy
            arrays, or CuPy arrays on the current CUDA device.
        hyper: the hyperparameters by documented name, where ``rule`` is a name; those left out take their defaults.
        engine: ``numba`` or ``numpy`` for NumPy arrays, ``cuda`` for CuPy arrays, or ``auto``: the first that works on
            this machine and these arrays. ``cuda`` works on the current stream and does not wait for it; the stream
            should be the one that was current when this was made.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters, which are then the real ones: each step
            updates the copy and rounds it into the parameter. Wider parameters need none.
        threads: how many threads may work; by default ``OMP_NUM_THREADS``, else all processors.
        fmad: let the engine ``cuda`` fuse a product and a sum into one operation, which rounds once. The other engines
            never do, and without it ``cuda`` has their bits where the sum of no norm is involved.

    Attributes:
        rule: the rule.
        device: where the parameters lie.
        engine: the engine that really runs.
        engine_reason: why it is not the preferred one; None when it is.

    Raises:
        HyperparameterError: as the rule does.
        UnknownOptimizerError: no such rule.
        ArrayError: a parameter that cannot be updated in place.
        EngineUnavailableError: the engine asked for by name does not work here.
        MemoryError: there is no memory for the state.

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
        engine: str = "auto",
        multi_precision: bool = False,
        threads: int | None = None,
        fmad: bool = False,
    ) -> None:
        if isinstance(rule, Rule) and hyper is not None:
            raise UsageError(f"{rule.name}: hyper is for a rule given by name; this one has its own")
        if engine not in ("auto", *ENGINES):
            raise UsageError(f"engine {engine!r}: must be auto or one of {', '.join(ENGINES)}")
        if threads is not None and threads < 1:
            raise UsageError(f"threads = {threads!r}: must be None or an integer in [1, inf)")
        if fmad and engine != "cuda":
            raise UsageError(f"fmad = {fmad!r} with engine {engine!r}: only cuda fuses operations")
        self.rule = rule if isinstance(rule, Rule) else rule_named(rule).of(hyper or {})
        self.parameters = list(parameters)
        self.device = device_of(engine, self.parameters)
        check_parameters(self.rule.name, self.parameters, self.device)
        self._kernel = kernel_of(self.rule)
        self._memory = Memory(self.parameters)
        self._members: dict[str, list[int]] = {}
        for i, parameter in enumerate(self.parameters):
            self._members.setdefault(parameter.dtype.name, []).append(i)
        self._place = {i: (name, at) for name, group in self._members.items() for at, i in enumerate(group)}
        self.engine, self.engine_reason, self._engines = self._built(engine, multi_precision, threads, fmad)
        try:
            self._arenas = {
                name: Arena(
                    self.rule,
                    self._kernel,
                    FORMATS[name],
                    [self.parameters[i] for i in group],
                    multi_precision,
                    self.device,
                )
                for name, group in self._members.items()
            }
        except MemoryError as error:
            raise self._out_of_memory("for the state", error) from error
        self._last: tuple[list[Any], list[tuple[Engine, Work]]] | None = None

    def _built(
        self, asked: str, master: bool, threads: int | None, fmad: bool
    ) -> tuple[str, str | None, dict[str, Engine]]:
        reason, names = None, self.device.engines if asked == "auto" else (asked,)
        for name in names:
            try:
                engines = {
                    form: build(
                        name,
                        self._kernel,
                        FORMATS[form],
                        device=self.device,
                        master=master,
                        threads=threads,
                        fmad=fmad,
                    )
                    for form in self._members
                }
                return name, reason, engines
            except EngineUnavailableError as error:
                if name == names[-1]:
                    raise
                reason = str(error)
        raise AssertionError("the last engine either works or raises")

    def step(self, grads: Sequence[Array | Rows | None], lr: float | None = None) -> None:
        """Update every parameter that has a gradient, and its state; the others keep theirs bit for bit.

        Arrays are read where they lie. One that is not contiguous, or shares memory with a parameter, is copied first.
        Arrays that are the very objects of the step before are not looked at again: fill the same arrays anew for each
        step, and a thousand of them cost no more than one.

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
            if self._last is None or not _same_objects(self._last[0], grads):
                self._last = None
                self._last = grads, self._planned(grads)
            work = self._last[1]
            if any(plan.copied for _, plan in work):
                self._last = None  # the originals may have other values next time
            prepared = [(engine.ready(plan, rate), plan) for engine, plan in work]
        except MemoryError as error:
            raise self._out_of_memory("for a step; nothing has been changed", error) from error
        for run, plan in prepared:
            if len(plan.tensor):
                run()
            plan.finish()

    def _out_of_memory(self, purpose: str, error: MemoryError) -> MemoryError:
        """The error that says of which optimizer it is, and what memory was for."""
        return MemoryError(f"{self.rule.name}: out of memory {purpose}: {error}")

    def _rate(self, lr: float | None) -> float:
        if type(lr) is float and math.isfinite(lr):  # at once, since to look up abstract types takes longer
            return lr
        rate = self.rule.learning_rate if lr is None else lr
        given: Any = rate  # whatever the caller gave: its type is for the reader
        if isinstance(given, bool) or not isinstance(given, numbers.Real) or not math.isfinite(given):
            raise HyperparameterError(f"{self.rule.name}: learning_rate = {lr!r}, must be a finite number")
        return float(given)

    def _planned(self, grads: list[Any]) -> list[tuple[Engine, Work]]:
        name = self.rule.name
        if len(grads) != len(self.parameters):
            raise ArrayError(f"{name}: {len(grads)} gradients, must be {len(self.parameters)}, one for each parameter")
        pairs = zip(grads, self.parameters, strict=True)
        checked = [check_gradient(name, i, grad, parameter, self.device) for i, (grad, parameter) in enumerate(pairs)]
        if not self._kernel.by_rows:
            for i, (grad, parameter) in enumerate(zip(checked, self.parameters, strict=True)):
                if isinstance(grad, Rows):
                    checked[i] = grad.dense(parameter.shape, FORMATS[parameter.dtype.name], self.device)
        given = [i for i, grad in enumerate(checked) if grad is not None]
        addresses = np.zeros(len(grads), np.int64)
        addresses[given] = [address_of(_values(checked[i])) for i in given]
        sizes = np.array([_values(checked[i]).nbytes for i in given], np.int64)
        for place in self._memory.shared(addresses[given], sizes):
            i = given[place]
            grad = checked[i]
            checked[i] = Rows(grad.ids, grad.values.copy()) if isinstance(grad, Rows) else _values(grad).copy()
            addresses[i] = address_of(_values(checked[i]))
        return [
            (
                self._engines[form],
                Work.of(
                    self._arenas[form],
                    [checked[i] for i in group],
                    addresses[group],
                    copied=any(checked[i] is not grads[i] for i in group),
                ),
            )
            for form, group in self._members.items()
        ]

    def state_dict(self) -> dict[str, list[Array]]:
        """Copies of all that a later run needs to go on bit for bit, with any engine, as NumPy arrays.

        One array for each parameter under each slot's name, in the shape of the parameter (``history`` of asgd has
        one axis more) and in float64 for float64 parameters, else in float32; under ``step`` the number of updates
        as 0-d int64; with ``multi_precision``, under ``master`` the float32 copies (of wider parameters: themselves).
        """
        numbers = range(len(self.parameters))
        state = {slot: [self.device.copied(self._slot(slot, i)) for i in numbers] for slot in self._slots()}
        places = [self._place[i] for i in numbers]
        return state | {STEP: [np.array(self._arenas[form].updates[at]) for form, at in places]}

    def load_state_dict(self, state: Mapping[str, Sequence[Array]]) -> None:
        """Go on from what `state_dict` returned; master copies are rounded into the parameters.

        Raises:
            ArrayError: a slot is missing or unknown, or an array does not fit. Nothing has been changed.
        """
        name, slots = self.rule.name, self._slots()
        if set(state) != {*slots, STEP}:
            raise ArrayError(f"{name}: state of {', '.join(sorted(state))}, must be of {', '.join([*slots, STEP])}")
        for slot, arrays in state.items():
            if len(arrays) != len(self.parameters):
                raise ArrayError(f"{name}: {len(arrays)} arrays of {slot}, must be {len(self.parameters)}")
            for i, array in enumerate(arrays):
                _check_fit(f"{name}: {slot} {i}", np.asarray(array), None if slot == STEP else self._slot(slot, i))
        self._last = None  # which knows how often parameters have been updated
        for slot in slots:
            for i, array in enumerate(state[slot]):
                self.device.assign(self._slot(slot, i), np.asarray(array))
                if slot == MASTER:
                    self.device.assign(self.parameters[i], np.asarray(array))
        for i, count in enumerate(state[STEP]):
            form, at = self._place[i]
            self._arenas[form].updates[at] = count

    def _slots(self) -> tuple[str, ...]:
        has_master = any(arena.master is not None for arena in self._arenas.values())
        return (*self.rule.slots, MASTER) if has_master else self.rule.slots

    def _slot(self, slot: str, i: int) -> Array:
        form, at = self._place[i]
        arena = self._arenas[form]
        return arena.master_view(at) if slot == MASTER else arena.view(slot, at)


def _same_objects(before: list[Any], now: list[Any]) -> bool:
    return len(before) == len(now) and all(map(operator.is_, before, now))


def _values(grad: Array | Rows | None) -> Array:
    assert grad is not None
    return grad.values if isinstance(grad, Rows) else grad


def _check_fit(what: str, array: Array, held: Array | None) -> None:
    """Hold one array of a state to the array it goes to; a number of updates goes to none."""
    if held is None:
        if array.shape != () or not np.issubdtype(array.dtype, np.integer) or array < 0:
            raise ArrayError(f"{what} is {array!r}, must be a whole number in [0, inf)")
    elif array.shape != held.shape or not np.can_cast(array.dtype, held.dtype, "safe"):
        raise ArrayError(
            f"{what} has dtype {array.dtype} and shape {array.shape}, must be {held.dtype} of shape {held.shape}"
        )
