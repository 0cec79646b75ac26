"""One kernel over lists of arrays, in place: what clips, regularizers, averages and compression have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from optimetry.accelerated.arena import Arena
from optimetry.accelerated.devices.device import Device, device_of
from optimetry.accelerated.dtypes import FORMATS, Array
from optimetry.accelerated.engines.engine import Engine, build
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.plan import Work
from optimetry.accelerated.validation import address_of, check_gradient, check_parameters
from optimetry.reference.errors import ArrayError, EngineUnavailableError, UsageError
from optimetry.reference.rule import Rule, State


@dataclass(frozen=True, kw_only=True)
class Slots(Rule):
    """Arrays of zeros beside each parameter, in the precision of arithmetic."""

    names: tuple[str, ...] = ()

    name = "slots"

    def initial_state(self, param: Array) -> State:
        """Zeros under each name."""
        return State(**{name: np.zeros_like(param) for name in self.names})


class Options(TypedDict, total=False):
    """How a `Sweep` works: those of its keywords that whoever is built on it takes and passes on."""

    engine: str
    threads: int | None
    fmad: bool


class Sweep:
    """Kernels over arrays that they update in place, and over slots beside them.

    Args:
        label: what error texts call the whole.
        arrays: contiguous, writeable arrays of float16, bfloat16, float32 or float64 that do not overlap: NumPy arrays,
            or CuPy arrays on the current CUDA device.
        kernels: the kernels by name; none may need an update number.
        slots: the names of the slots, of the arrays' shapes; float32 beside narrow arrays.
        engine: ``numba`` or ``numpy`` for NumPy arrays, ``cuda`` for CuPy arrays, or ``auto``, the first that works on
            this machine and these arrays.
        threads: how many threads may work; by default ``OMP_NUM_THREADS``, else all processors.
        fmad: let the engine ``cuda`` fuse a product and a sum, as `Accelerated` does.

    Attributes:
        device: where the arrays lie.
        engine: the engine that really runs.

    Raises:
        ArrayError: an array that cannot be updated in place.
        EngineUnavailableError: the engine asked for by name does not work here.
        UsageError: ``fmad`` with another engine than ``cuda``.
    """

    def __init__(
        self,
        label: str,
        arrays: Sequence[Array],
        kernels: Mapping[str, Kernel],
        *,
        slots: tuple[str, ...] = (),
        engine: str = "auto",
        threads: int | None = None,
        fmad: bool = False,
    ) -> None:
        if fmad and engine != "cuda":
            raise UsageError(f"{label}: fmad = {fmad!r} with engine {engine!r}: only cuda fuses operations")
        self.label, self.arrays, self.kernels = label, list(arrays), dict(kernels)
        self.device = device_of(engine, self.arrays)
        check_parameters(label, self.arrays, self.device)
        members: dict[str, list[int]] = {}
        for i, array in enumerate(self.arrays):
            members.setdefault(array.dtype.name, []).append(i)
        self.engine, self._engines = _built(engine, kernels, list(members), self.device, threads, fmad)
        one = next(iter(kernels.values()))
        self._groups = {
            form: (
                group,
                Arena(Slots(names=slots), one, FORMATS[form], [self.arrays[i] for i in group], False, self.device),
            )
            for form, group in members.items()
        }

    def run(self, kernel: str, number: float = 0.0, read: Sequence[Array] | None = None) -> None:
        """Run a kernel over every array; arguments and errors are those of `ready`."""
        for run in self.ready(kernel, number, read):
            run()

    def ready(self, kernel: str, number: float = 0.0, read: Sequence[Array] | None = None) -> list[Callable[[], None]]:
        """What runs a kernel over every array, when each is called, once; all that can fail is done before.

        Args:
            kernel: its name.
            number: what its ``scalars`` get in place of a learning rate.
            read: one array for each, of the same dtype and shape, that the kernel reads as the gradient.

        Raises:
            ArrayError: an array of another dtype or shape, or their number is wrong. Nothing has been changed.
            MemoryError: there is no memory for the tables of a sweep. Nothing has been changed.
        """
        given = self.arrays if read is None else self._checked(read)
        prepared = []
        for form, (group, arena) in self._groups.items():
            flat = [given[i].reshape(-1) for i in group]
            addresses = np.array([address_of(array) for array in flat], np.int64)
            work = Work.of(arena, flat, addresses, copied=False)
            prepared.append(self._engines[kernel, form].ready(work, number))
        return prepared

    def groups(self) -> Iterator[tuple[list[int], Arena]]:
        """The arrays of each dtype, by number, and their slots."""
        yield from self._groups.values()

    def slot(self, name: str, i: int) -> Array:
        """A slot of one array, a view in its shape."""
        for group, arena in self._groups.values():
            if i in group:
                return arena.view(name, group.index(i))
        raise IndexError(i)

    def slots(self, name: str) -> list[Array]:
        """A slot of every array."""
        return [self.slot(name, i) for i in range(len(self.arrays))]

    def _checked(self, read: Sequence[Array]) -> list[Array]:
        if len(read) != len(self.arrays):
            raise ArrayError(f"{self.label}: {len(read)} arrays, must be {len(self.arrays)}")
        checked: list[Any] = []
        for i, (array, own) in enumerate(zip(read, self.arrays, strict=True)):
            if array is None:
                raise ArrayError(f"{self.label}: gradient {i} is None, must be a {self.device.library} array")
            checked.append(check_gradient(self.label, i, array, own, self.device))
        return checked


def _built(
    asked: str, kernels: Mapping[str, Kernel], forms: Sequence[str], device: Device, threads: int | None, fmad: bool
) -> tuple[str, dict[tuple[str, str], Engine]]:
    names = device.engines if asked == "auto" else (asked,)
    for engine in names:
        try:
            return engine, {
                (name, form): build(engine, kernel, FORMATS[form], device=device, threads=threads, fmad=fmad)
                for name, kernel in kernels.items()
                for form in forms
            }
        except EngineUnavailableError:
            if engine == names[-1]:
                raise
    raise AssertionError("the last engine either works or raises")
