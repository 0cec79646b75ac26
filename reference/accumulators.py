"""The state that one optimizer keeps of a parameter, and the step of one parameter; all out of place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from optimetry.reference.errors import ArgumentError, StateError
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.sparse import SparseRows
from optimetry.reference.states import check_state

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
    """The state of one parameter.

    Attributes:
        state: the slots of its rule.
        updates: the number of its updates.
        master: the float32 copy of a low-precision parameter under multi_precision.
    """

    state: State
    updates: int
    master: Array | None


class Accumulators:
    """Begins, advances, saves and loads the entries of one optimizer's parameters.

    Args:
        rule: the optimizer's rule; a parameter's own rule may have other hyperparameters, but the same slots.
        multi_precision: whether float16 and bfloat16 parameters get a float32 master copy.
        lazy: whether rows without a gradient keep parameter and state, where a gradient is sparse.
    """

    def __init__(self, rule: Rule, multi_precision: bool = False, lazy: bool = False) -> None:
        self.rule = rule
        self.multi_precision = multi_precision
        self.lazy = lazy

    def first(self, value: Array) -> Entry:
        """The entry of a parameter before its first step.

        Raises:
            ArgumentError: the rule is not defined for its shape.
        """
        value, name = np.asarray(value), self.rule.name
        if not self.rule.takes(value.shape):
            raise ArgumentError(f"{name}: a parameter has shape {value.shape}, for which {name} is not defined")
        master = value.astype(MASTER) if self.multi_precision and value.dtype.itemsize < MASTER.itemsize else None
        return Entry(_plain(self.rule.initial_state(working(value if master is None else master))), 0, master)

    def stepped(
        self,
        parameter: ParameterLike,
        value: Array,
        entry: Entry,
        grad: Array | SparseRows,
        lr: float,
        rule: Rule | None = None,
    ) -> tuple[Array, Entry]:
        """The value, same shape and dtype, and the entry of one parameter after a step; nothing is changed.

        Args:
            parameter: which one.
            value: its value.
            entry: its entry.
            grad: its gradient.
            lr: the learning rate, the parameter's factor not included.
            rule: its rule, where not the optimizer's.
        """
        rule = rule or self.rule
        wide = np.asarray(value) if entry.master is None else entry.master
        lr, t = lr * parameter.learning_rate, entry.updates + 1
        if isinstance(grad, SparseRows) and self.lazy:
            new, state = _rows_stepped(rule, wide, grad.merged(), entry.state, lr, t)
        else:
            dense = grad.dense() if isinstance(grad, SparseRows) else grad
            new, state = _stepped(rule, wide, dense, entry.state, lr, t)
        with np.errstate(all="ignore"):
            rounded = new.astype(np.asarray(value).dtype)
        return rounded, Entry(state, t, None if entry.master is None else new)

    def parts(self, entry: Entry) -> dict[str, Array]:
        """What an entry holds, by name: the slots, ``updates``, and ``master`` where there is one; not copied."""
        held: dict[str, Array] = {**entry.state, "updates": np.array(entry.updates, dtype=np.int64)}
        return held if entry.master is None else held | {"master": entry.master}

    def entry(self, parts: Mapping[str, Any]) -> Entry:
        """The entry that holds these parts; they are not copied."""
        return Entry(
            State(**{slot: parts[slot] for slot in self.rule.slots}), int(parts["updates"]), parts.get("master")
        )

    def saved(self, entries: Mapping[str, Entry]) -> dict[str, Array]:
        """Copies of all entries, of parameters by name, as a state dict has them.

        With the documented powers of the decays: ``beta1_pow_acc`` is that of the next step, as in fluid.
        """
        saved: dict[str, Array] = {}
        for name, entry in entries.items():
            held = self.parts(entry)
            for beta in self.rule.decay_powers:
                held[f"{beta}_pow_acc"] = np.array([getattr(self.rule, beta) ** (entry.updates + 1)])
            saved |= {self.key(name, part): np.array(array) for part, array in held.items()}
        return saved

    def loaded(self, saved: Mapping[str, Any], parameters: Iterable[ParameterLike]) -> dict[str, Entry]:
        """The entries of a state dict.

        Args:
            saved: what `saved` returned, for the same parameters.
            parameters: the optimizer's trainable parameters.

        Raises:
            StateError: a key is missing or unknown, an array has another shape or dtype, or a power is that of another
                decay.
        """
        expected = {p.name: self.first(np.zeros(p.shape, p.dtype)) for p in parameters}
        wanted = self.saved(expected)
        check_state(self.rule.name, saved, wanted)
        for key in wanted:
            if key.endswith("_updates") and saved[key] < 0:
                raise StateError(f"{self.rule.name}: {key!r} in the state dict is {saved[key]}, must be in [0, inf)")
        entries = {
            name: self.entry({part: np.array(saved[self.key(name, part)]) for part in self.parts(entry)})
            for name, entry in expected.items()
        }
        powers = self.saved(entries)
        for key in (key for key in powers if key.endswith("_pow_acc")):
            if np.any(np.asarray(saved[key]) != powers[key]):
                raise StateError(
                    f"{self.rule.name}: {key!r} in the state dict is {saved[key]}, must be {powers[key]}, which is the "
                    f"optimizer's own after so many updates"
                )
        return entries

    def key(self, parameter: str, part: str) -> str:
        """The key of a part of a parameter's entry in a state dict."""
        return f"{parameter}_{self.rule.name}_{part}"


def checked_gradient(optimizer: str, parameter: ParameterLike, grad: Any) -> Any:
    """A gradient as an array or `SparseRows`.

    Raises:
        ArgumentError: it does not have the shape and dtype of its parameter.
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
