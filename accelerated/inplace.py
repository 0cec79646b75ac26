"""The base of everything that updates arrays in place: validation, memory, engine, plans, saved state."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np

from optimetry.accelerated.arena import Arena, InitialState
from optimetry.accelerated.devices.device import device_of
from optimetry.accelerated.devices.interface import address_of
from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.engines.engine import ENGINES, Engine, Executable, find_engine
from optimetry.accelerated.kernels.kernel import PARAM, Kernel
from optimetry.accelerated.plan import Plan
from optimetry.accelerated.rows import Rows
from optimetry.accelerated.validation import Memory, check_in_place, check_state, checked_array
from optimetry.reference.errors import ArrayError, UsageError


class Options(TypedDict, total=False):
    """The keywords that every class built on `InPlace` passes on."""

    engine: str
    threads: int | None
    fmad: bool


@dataclass
class Group:
    """The arrays of one dtype.

    Attributes:
        members: their numbers.
        arena: their memory.
        executables: the kernels compiled for them, by name.
    """

    members: list[int]
    arena: Arena
    executables: dict[str, Executable] = field(default_factory=dict)


def zeros(*slots: str) -> InitialState:
    """Return the initial state of slots that begin as zeros."""
    return lambda like: {slot: np.zeros_like(like) for slot in slots}


class InPlace:
    """Kernels over arrays that they update in place, and over slots beside them.

    Args:
        label: the name that error texts begin with.
        arrays: contiguous, writeable arrays of float16, bfloat16, float32 or float64 that do not overlap: NumPy arrays,
            or CuPy arrays on the current CUDA device.
        kernels: the kernels by name.
        initial_state: the initial value of the slots; float32 beside narrow arrays.
        noun: what error texts call one of the arrays.
        multi_precision: keep float32 copies of narrow arrays, which are then the real ones.
        engine: ``numba`` or ``numpy`` for NumPy arrays, ``cuda`` for CuPy arrays, or ``auto``: the first that works on
            this machine and these arrays. ``cuda`` works on the current stream and does not wait for it; the stream
            should be the one that was current when this was made.
        threads: how many threads may work; by default ``OMP_NUM_THREADS``, else all processors.
        fmad: let the engine ``cuda`` fuse a product and a sum into one operation, which rounds once. The other engines
            never do, and without it ``cuda`` returns their bits where no norm is summed, except that a zero may have
            another sign where the sign of a number or the nearest number of an interval is taken.

    Attributes:
        arrays: the arrays.
        device: where they lie.
        engine: the engine that really runs.
        engine_reason: why it is not the preferred one; None when it is.

    Raises:
        ArrayError: an array that cannot be updated in place.
        EngineUnavailableError: the engine asked for by name does not work here.
        MemoryError: there is no memory for the slots.
        UsageError: no such engine, no thread, or ``fmad`` with another engine than ``cuda``.
    """

    def __init__(
        self,
        label: str,
        arrays: Sequence[Array],
        kernels: Mapping[str, Kernel],
        initial_state: InitialState,
        *,
        noun: str = "parameter",
        multi_precision: bool = False,
        engine: str = "auto",
        threads: int | None = None,
        fmad: bool = False,
    ) -> None:
        if engine not in ("auto", *ENGINES):
            raise UsageError(f"{label}: engine = {engine!r}, must be auto or one of {', '.join(ENGINES)}")
        is_whole = isinstance(threads, int | np.integer) and not isinstance(threads, bool)
        if threads is not None and (not is_whole or threads < 1):
            raise UsageError(f"{label}: threads = {threads!r}, must be None or an integer in [1, inf)")
        if fmad and engine != "cuda":
            raise UsageError(f"{label}: fmad = {fmad!r} with engine {engine!r}, must be with cuda, which alone fuses")
        self.label, self.arrays = label, list(arrays)
        self.device = device_of(engine, self.arrays)
        check_in_place(label, noun, self.arrays, self.device)
        self._memory = Memory(self.arrays)
        self._kernels, self._noun = dict(kernels), noun
        self._kept: dict[str, tuple[list[Any], list[tuple[Executable, Plan]]]] = {}
        ((ring, factors),) = {(kernel.ring, kernel.factors) for kernel in self._kernels.values()}
        per_tensor = frozenset[str]().union(*(kernel.numbers for kernel in self._kernels.values()))
        members: dict[str, list[int]] = {}
        for i, array in enumerate(self.arrays):
            members.setdefault(array.dtype.name, []).append(i)
        self._groups: list[Group] = []
        try:
            for name, numbers in members.items():
                of_dtype = [self.arrays[i] for i in numbers]
                dtypes = DTYPES[name]
                arena = Arena(initial_state, ring, per_tensor, factors, dtypes, of_dtype, multi_precision, self.device)
                self._groups.append(Group(numbers, arena))
        except MemoryError as error:
            raise self._out_of_memory("for the state", error) from error
        self._place = {i: (group.arena, at) for group in self._groups for at, i in enumerate(group.members)}
        self._engine, self.engine_reason = find_engine(engine, self.device, self._compile, threads=threads, fmad=fmad)
        self.engine = self._engine.name

    def _compile(self, engine: Engine) -> None:
        """Compile with an engine all that a step needs."""
        for group in self._groups:
            master = group.arena.master is not None
            group.executables = {
                name: engine.executable(kernel, group.arena.dtypes, master=master)
                for name, kernel in self._kernels.items()
            }

    def _run(self, kernel: str, number: float = 0.0, read: Sequence[Array] | None = None, noun: str = "array") -> None:
        """Run a kernel over every array; arguments and errors are those of `_ready`."""
        for run in self._ready(kernel, number, read, noun):
            run()

    def _ready(
        self, kernel: str, number: float = 0.0, read: Sequence[Array] | None = None, noun: str = "array"
    ) -> list[Callable[[], None]]:
        """Prepare to run a kernel over every array; it runs when the results are called, and all that can fail is done.

        Arrays that are the same objects as the last time are not checked again, and are kept until the next.

        Args:
            kernel: its name.
            number: its ``scalars`` get this in place of a learning rate.
            read: one array for each, of the same dtype and shape, that the kernel reads as the gradient. One that
                shares memory with what is written is copied first.
            noun: what error texts call one of these.

        Raises:
            ArrayError: an array of another dtype or shape, or their number is wrong. Nothing has been changed.
            MemoryError: there is no memory for the tables of a step. Nothing has been changed.
        """
        given = self.arrays if read is None else list(read)
        try:
            plans = self._kept_plans(kernel, given, lambda: self._plans_of(kernel, given, noun))
            return [executable.ready(plan, number) for executable, plan in plans]
        except MemoryError as error:
            raise self._out_of_memory("for a step; nothing has been changed", error) from error

    def _kept_plans(
        self, kernel: str, given: list[Any], make: Callable[[], list[tuple[Executable, Plan]]]
    ) -> list[tuple[Executable, Plan]]:
        """Return the plans of the last time where these arrays are the same objects, or else make them."""
        last, plans = self._kept.pop(kernel, ([], []))
        if not plans or not same_objects(last, given):
            plans = make()
        if not any(plan.copied for _, plan in plans):  # the originals may have other values next time
            self._kept[kernel] = given, plans
        return plans

    def _plans_of(self, kernel: str, given: list[Any], noun: str) -> list[tuple[Executable, Plan]]:
        """Check arrays and plan a kernel that reads them; those that lie in what it writes are copied."""
        grads = given
        if given is not self.arrays:
            self._check_count(given, f"{noun}s")
            pairs = enumerate(zip(given, self.arrays, strict=True))
            grads = [checked_array(self.label, noun, i, array, own, self.device) for i, (array, own) in pairs]
        addresses = np.array([address_of(array) for array in grads], np.int64)
        if grads is not self.arrays and any(PARAM in pass_.writes for pass_ in self._kernels[kernel].passes):
            for i in self._memory.shared(addresses, np.array([array.nbytes for array in grads], np.int64)):
                grads[i] = grads[i].copy()
                addresses[i] = address_of(grads[i])
        return self._plans(kernel, grads, given, addresses)

    def _plans(
        self, kernel: str, grads: Sequence[Array | Rows | None], originals: Sequence[object], addresses: Array
    ) -> list[tuple[Executable, Plan]]:
        """Plan one step for each group.

        Args:
            kernel: its name.
            grads: for each array a contiguous one, rows, or None.
            originals: the caller's arrays; where ``grads`` has another object, it is a copy.
            addresses: where the first elements of ``grads`` lie, int64.
        """
        return [
            (
                group.executables[kernel],
                Plan.of(
                    group.arena,
                    [grads[i] for i in group.members],
                    addresses[group.members],
                    copied=any(grads[i] is not originals[i] for i in group.members),
                ),
            )
            for group in self._groups
        ]

    def _slot(self, name: str, i: int) -> Array:
        """Return a slot of one array, a view in its documented shape."""
        arena, at = self._place[i]
        return arena.view(name, at)

    def _slot_views(self, name: str) -> list[Array]:
        """Return a slot of every array."""
        return [self._slot(name, i) for i in range(len(self.arrays))]

    def _slot_copies(self, names: Iterable[str]) -> dict[str, list[Array]]:
        """Return copies of slots of every array, by name, as NumPy arrays."""
        return {name: [self.device.copied(slot) for slot in self._slot_views(name)] for name in names}

    def _check_state(self, state: Mapping[str, Sequence[Any]], slots: Sequence[str], extra: str) -> None:
        """Check that a saved state has these slots, all of which fit, and the entry ``extra``."""
        if not isinstance(state, Mapping):
            raise ArrayError(f"{self.label}: state = {state!r}, must be a dict that state_dict() returned")
        if set(state) != {*slots, extra}:
            held = ", ".join(sorted(map(str, state)))
            raise ArrayError(f"{self.label}: state of {held}, must be of {', '.join([*slots, extra])}")
        for name in (*slots, extra):
            if not isinstance(state[name], Sequence | np.ndarray):
                raise ArrayError(f"{self.label}: {name} is a {type(state[name]).__name__}, must be a list of arrays")
        for name in slots:
            self._check_count(state[name], f"arrays of {name}")
            for i, (array, own) in enumerate(zip(state[name], self._slot_views(name), strict=True)):
                check_state(f"{self.label}: {name} {i}", array, own)

    def _assign_slots(self, state: Mapping[str, Sequence[Any]], slots: Sequence[str]) -> None:
        """Copy slots of a checked state."""
        for name in slots:
            for array, own in zip(state[name], self._slot_views(name), strict=True):
                self.device.assign(own, np.asarray(array))

    def _check_count(self, arrays: Sequence[Any], noun: str) -> None:
        wanted = len(self.arrays)
        if len(arrays) != wanted:
            raise ArrayError(f"{self.label}: {len(arrays)} {noun}, must be {wanted}, one for each {self._noun}")

    def _out_of_memory(self, purpose: str, error: MemoryError) -> MemoryError:
        """Return the error that names the optimizer, and what memory was for."""
        return MemoryError(f"{self.label}: out of memory {purpose}: {error}")


def same_objects(before: list[Any], now: list[Any]) -> bool:
    """Return whether two lists hold the same objects."""
    return before is now or (len(before) == len(now) and all(map(operator.is_, before, now)))
