"""One conformance case: an optimizer, its hyperparameters, and every bit of what it is fed.

Cases that once were judged wrongly, or that come nearest to it, are kept in files and tried beside drawn ones.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from optimetry.conformance.harness.python_harness import COLUMNS, GAPS, IN_ROWS, OFFSET, ROWS
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS, Format

Grads = tuple[Array | None, ...]

ArrayChange = Callable[[Array], Any]
"""Returns what takes the place of an array: another array, or a number where a ufunc makes one of a 0-d array."""


LYING = {
    ROWS: "in rows",
    COLUMNS: "in columns",
    GAPS: "with gaps between elements",
    OFFSET: "behind one element of a buffer",
}
"""Layouts in words."""


@dataclass(frozen=True, eq=False)
class Case:
    """A training run, complete and exact. A case equals itself alone, so that results can be cached by case.

    Attributes:
        optimizer: the subject's name.
        dtype: the dtype name of every parameter and gradient.
        hyper: every documented hyperparameter, learning rate aside.
        learning_rates: one for each step.
        parameters: the parameters before the first step.
        grads: for each step one gradient, or None, for each parameter; an average is fed parameters instead.
        layouts: how the target is to hold parameters in memory, and how gradients.
    """

    optimizer: str
    dtype: str
    hyper: dict[str, Any]
    learning_rates: tuple[float, ...]
    parameters: tuple[Array, ...]
    grads: tuple[Grads, ...]
    layouts: tuple[str, str] = IN_ROWS

    @property
    def form(self) -> Format:
        """The floating-point format of ``dtype``."""
        return FORMATS[self.dtype]

    @property
    def lying(self) -> str:
        """How arrays lie in memory, in words."""
        of_parameters, of_gradients = (LYING[layout] for layout in self.layouts)
        return f"parameters {of_parameters}, gradients {of_gradients}"

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Every parameter, then every gradient that is not missing."""
        return (*self.parameters, *(grad for grads in self.grads for grad in grads if grad is not None))

    @property
    def steps(self) -> Iterator[tuple[Grads, float]]:
        """The gradients and the learning rate of each step."""
        return zip(self.grads, self.learning_rates, strict=True)

    @cached_property
    def size(self) -> int:
        """The number of elements of all parameters together."""
        return sum(param.size for param in self.parameters)

    @property
    def elements(self) -> int:
        """The number of elements of all steps together, as many as a trajectory has."""
        return self.size * len(self.grads)

    @cached_property
    def content(self) -> tuple[Any, ...]:
        """What is fed, bit for bit: equal for cases that no target can tell apart."""
        arrays = (*self.parameters, *(grad for grads in self.grads for grad in grads))
        bits = tuple(None if array is None else (array.shape, array.tobytes()) for array in arrays)
        hyper, rates = repr(sorted(self.hyper.items())), repr(self.learning_rates)
        return self.optimizer, self.dtype, hyper, rates, bits, self.layouts

    def replace(self, **changes: Any) -> Case:
        """Return this case with other fields."""
        return dataclasses.replace(self, **changes)

    def upto(self, steps: int) -> Case:
        """Return the first steps of this case, itself where it has no more."""
        if steps >= len(self.grads):
            return self
        return self.at_steps(range(steps))

    def at_steps(self, steps: Sequence[int]) -> Case:
        """Return this case with these steps alone, in this order."""
        return self.replace(
            grads=tuple(self.grads[step] for step in steps),
            learning_rates=tuple(self.learning_rates[step] for step in steps),
        )

    def only(self, tensors: Sequence[int]) -> Case:
        """Return this case with these parameters alone, in this order."""
        return self.replace(
            parameters=tuple(self.parameters[i] for i in tensors),
            grads=tuple(tuple(grads[i] for i in tensors) for grads in self.grads),
        )

    def each(self, change: ArrayChange) -> Case:
        """Return this case with every parameter and every gradient changed alike."""
        return self.mapped(param=change, grad=change)

    def mapped(self, *, param: ArrayChange | None = None, grad: ArrayChange | None = None) -> Case:
        """Return this case with every parameter changed by one function, and every gradient by another.

        Args:
            param: returns a new parameter; without it, parameters stay.
            grad: returns a new gradient, or None, which makes it missing; without it, gradients stay. It is not called
                for missing ones.
        """
        parameters, grads = self.parameters, self.grads
        if param is not None:
            parameters = tuple(np.asarray(param(array)) for array in parameters)
        if grad is not None:
            grads = tuple(tuple(_mapped(array, grad) for array in row) for row in grads)
        return self.replace(parameters=parameters, grads=grads)

    def to_json(self) -> str:
        """Return the case as JSON text, with bits instead of decimals, so that reading it back gives the same case."""
        fields = {
            "optimizer": self.optimizer,
            "dtype": self.dtype,
            "hyper": {name: _number_out(value) for name, value in self.hyper.items()},
            "learning_rates": [rate.hex() for rate in self.learning_rates],
            "parameters": [_array_out(param) for param in self.parameters],
            "grads": [[None if grad is None else _array_out(grad) for grad in grads] for grads in self.grads],
            **layouts_out(self),
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Read the case that `to_json` wrote."""
        fields = json.loads(text)
        dtype = FORMATS[fields["dtype"]].dtype
        of_parameters, of_gradients = fields.get("layouts", IN_ROWS)
        return cls(
            optimizer=fields["optimizer"],
            dtype=fields["dtype"],
            hyper={name: _number_in(value) for name, value in fields["hyper"].items()},
            learning_rates=tuple(float.fromhex(rate) for rate in fields["learning_rates"]),
            parameters=tuple(_array_in(param, dtype) for param in fields["parameters"]),
            grads=tuple(
                tuple(None if grad is None else _array_in(grad, dtype) for grad in grads) for grads in fields["grads"]
            ),
            layouts=(of_parameters, of_gradients),
        )


def layouts_out(case: Case) -> dict[str, Any]:
    """Return what JSON says of layouts: nothing where all is in rows."""
    return {} if case.layouts == IN_ROWS else {"layouts": list(case.layouts)}


def _mapped(grad: Array | None, change: ArrayChange) -> Array | None:
    new = None if grad is None else change(grad)
    return None if new is None else np.asarray(new)


_MET: WeakValueDictionary[tuple[Any, ...], Case] = WeakValueDictionary()
"""By content, the cases that somebody still has."""


def met_before(case: Case) -> Case:
    """Return an earlier case of the same content, if one is still known: results are cached by case."""
    return _MET.setdefault(case.content, case)


def _number_out(value: Any) -> Any:
    return value.hex() if isinstance(value, float) else value


def _number_in(value: Any) -> Any:
    return float.fromhex(value) if isinstance(value, str) else value


def _array_out(array: Array) -> dict[str, Any]:
    return {"shape": list(array.shape), "bits": array.tobytes().hex()}


def _array_in(fields: dict[str, Any], dtype: np.dtype[Any]) -> Array:
    return np.frombuffer(bytes.fromhex(fields["bits"]), dtype).reshape(fields["shape"])


CORPUS = "corpus"
"""The folder with a file for each subject and dtype; one case a line, as `Case.to_json` writes it."""


def file_of(optimizer: str, dtype: str) -> str:
    """Return the name of the file in `CORPUS` for one subject in one dtype."""
    return f"{optimizer}-{dtype}.jsonl"


@cache
def replayed(optimizer: str, dtype: str) -> tuple[Case, ...]:
    """Return the cases that are kept for one subject in one dtype."""
    file = resources.files(__package__).joinpath(CORPUS, file_of(optimizer, dtype))
    if not file.is_file():
        return ()
    return tuple(map(Case.from_json, file.read_text(encoding="utf-8").splitlines()))
