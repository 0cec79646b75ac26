"""The state of every parameter of one optimizer, and the step of one parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from optimetry.reference.errors import ArgumentError, StateError
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.sparse import SparseRows

MASTER = np.dtype(np.float32)


class ParameterLike(Protocol):
    """What an optimizer reads of a parameter, of a program or eager.

    Attributes:
        name: unique among the optimizer's parameters.
        shape: its shape.
        dtype: its dtype.
        trainable: whether it is updated.
        regularizer: replaces the optimizer's regularizer, where not None.
        learning_rate: a factor on the learning rate.
    """

    name: str
    trainable: bool
    regularizer: Any
    learning_rate: float

    @property
    def shape(self) -> Any: ...  # noqa: D102
    @property
    def dtype(self) -> np.dtype[Any]: ...  # noqa: D102


@dataclass(frozen=True)
class Entry:
    """What is remembered of one parameter.

    Attributes:
        state: the slots of its rule.
        updates: the number of its updates.
        master: the float32 copy of a low-precision parameter under multi_precision.
    """

    state: State
    updates: int
    master: Array | None


class Accumulators:
    """Entries by name of parameter.

    Args:
        rule: the optimizer's rule; what a parameter's own rule may change are its hyperparameters, not its slots.
        multi_precision: whether float16 and bfloat16 parameters get a float32 master copy.
        lazy: whether rows without a gradient keep parameter and state, where a gradient is sparse.
    """

    def __init__(self, rule: Rule, multi_precision: bool = False, lazy: bool = False) -> None:
        self.rule = rule
        self.multi_precision = multi_precision
        self.lazy = lazy
        self.entries: dict[str, Entry] = {}

    def start(self, parameter: ParameterLike, value: Array) -> None:
        """Make the entry of a parameter before its first step; one that has an entry keeps it."""
        if parameter.name not in self.entries:
            self.entries[parameter.name] = self._first_entry(np.asarray(value))

    def _first_entry(self, value: Array) -> Entry:
        master = value.astype(MASTER) if self.multi_precision and value.dtype.itemsize < MASTER.itemsize else None
        return Entry(_plain(self.rule.initial_state(working(value if master is None else master))), 0, master)

    def step(
        self, parameter: ParameterLike, value: Array, grad: Array | SparseRows, lr: float, rule: Rule | None = None
    ) -> Array:
        """Update one parameter.

        Args:
            parameter: which one.
            value: its value; not changed.
            grad: its gradient.
            lr: the learning rate, the parameter's factor not included.
            rule: its rule, where not the optimizer's.

        Returns:
            The new value, same shape and dtype.
        """
        self.start(parameter, value)
        rule = rule or self.rule
        entry = self.entries[parameter.name]
        wide = np.asarray(value) if entry.master is None else entry.master
        lr, t = lr * parameter.learning_rate, entry.updates + 1
        if isinstance(grad, SparseRows) and self.lazy:
            new, state = _rows_stepped(rule, wide, grad.merged(), entry.state, lr, t)
        else:
            dense = grad.dense() if isinstance(grad, SparseRows) else grad
            new, state = _stepped(rule, wide, dense, entry.state, lr, t)
        self.entries[parameter.name] = Entry(state, t, None if entry.master is None else new)
        return new.astype(np.asarray(value).dtype)

    def saved(self) -> dict[str, Array]:
        """Copies of all entries by key; see `keys`."""
        saved: dict[str, Array] = {}
        for name, entry in self.entries.items():
            saved |= {self._key(name, slot): np.array(array) for slot, array in entry.state.items()}
            saved[self._key(name, "updates")] = np.array(entry.updates, dtype=np.int64)
            if entry.master is not None:
                saved[self._key(name, "master")] = np.array(entry.master)
        return saved

    def load(self, saved: Mapping[str, Any], parameters: Iterable[ParameterLike]) -> None:
        """Replace all entries by saved ones, or raise and change nothing.

        Args:
            saved: what `saved` returned, for the same parameters.
            parameters: the optimizer's trainable parameters.

        Raises:
            StateError: a key is missing or unknown, or an array has another shape or dtype.
        """
        expected = {p.name: self._first_entry(np.zeros(p.shape, p.dtype)) for p in parameters}
        self._check(saved, expected)
        self.entries = {
            name: Entry(
                State(**{slot: np.array(saved[self._key(name, slot)]) for slot in entry.state}),
                int(saved[self._key(name, "updates")]),
                None if entry.master is None else np.array(saved[self._key(name, "master")]),
            )
            for name, entry in expected.items()
        }

    def _check(self, saved: Mapping[str, Any], expected: Mapping[str, Entry]) -> None:
        other = Accumulators(self.rule, self.multi_precision)
        other.entries = dict(expected)
        wanted = other.saved()
        missing, foreign = sorted(wanted.keys() - saved.keys()), sorted(saved.keys() - wanted.keys())
        if missing:
            raise StateError(f"{self.rule.name}: the state dict lacks {missing[0]!r}" + _and_more(missing))
        if foreign:
            raise StateError(
                f"{self.rule.name}: the state dict has {foreign[0]!r}, which is not ours{_and_more(foreign)}"
            )
        for key, want in wanted.items():
            have = np.asarray(saved[key])
            if (have.shape, have.dtype) != (want.shape, want.dtype):
                raise StateError(
                    f"{self.rule.name}: {key!r} in the state dict has shape {have.shape} and dtype {have.dtype}, "
                    f"must be {want.shape} and {want.dtype}"
                )
            if key.endswith("_updates") and have.ndim == 0 and have.dtype.kind == "i" and have < 0:
                raise StateError(f"{self.rule.name}: {key!r} in the state dict is {have}, must be in [0, inf)")

    def _key(self, parameter: str, part: str) -> str:
        return f"{parameter}_{self.rule.name}_{part}"


def checked_gradient(optimizer: str, parameter: ParameterLike, grad: Any) -> Any:
    """A gradient as an array or `SparseRows`.

    Raises:
        ArgumentError: it has not the shape and dtype of its parameter.
    """
    grad = grad if isinstance(grad, SparseRows) else np.asarray(grad)
    if (grad.shape, grad.dtype) != (tuple(parameter.shape), parameter.dtype):
        raise ArgumentError(
            f"{optimizer}: the gradient of {parameter.name} has shape {grad.shape} and dtype {grad.dtype}, "
            f"must be {tuple(parameter.shape)} and {parameter.dtype}"
        )
    return grad


def _stepped(rule: Rule, param: Array, grad: Array, state: State, lr: float, t: int) -> tuple[Array, State]:
    held = State(**{slot: working(array) for slot, array in state.items()})
    with np.errstate(all="ignore"):
        new, after = rule.update(working(param), working(np.asarray(grad).astype(param.dtype)), held, lr, t)
    return np.asarray(new), _plain(after)


def _rows_stepped(rule: Rule, param: Array, grad: SparseRows, state: State, lr: float, t: int) -> tuple[Array, State]:
    """A step of the rows that have a gradient; the others keep parameter and state."""
    rows = grad.rows
    new_rows, state_rows = _stepped(
        rule, param[rows], grad.values, State(**{slot: array[rows] for slot, array in state.items()}), lr, t
    )
    return _with_rows(param, rows, new_rows), State(
        **{slot: _with_rows(array, rows, state_rows[slot]) for slot, array in state.items()}
    )


def _with_rows(array: Array, rows: Array, new: Array) -> Array:
    result = np.array(array)
    result[rows] = new
    return result


def _plain(state: State) -> State:
    return State(**{slot: np.asarray(array) for slot, array in state.items()})


def _and_more(keys: list[str]) -> str:
    return f" (and {len(keys) - 1} more such keys)" if len(keys) > 1 else ""
