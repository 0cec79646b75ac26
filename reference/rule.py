"""What one optimizer declares: its hyperparameters, its slots and one pure update that reads like the formula.

Everything else is derived from the declaration: constructor checks and error texts, case strategies, the state schema
and the rows of the reports.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from optimetry.reference.declaration import Declared
from optimetry.reference.errors import UnknownOptimizerError

Array = Any
"""An ndarray of any float dtype, or an object that NumPy functions dispatch on (NEP 13 and NEP 18)."""


class State(Mapping[str, Any]):
    """The slots of one parameter by name: ``State(velocity=v).velocity``. Immutable."""

    __slots__ = ("_slots",)

    def __init__(self, **slots: Array) -> None:
        object.__setattr__(self, "_slots", slots)

    def __getattr__(self, name: str) -> Array:
        try:
            return self._slots[name]
        except KeyError:
            raise AttributeError(f"no slot {name!r} among {sorted(self._slots)}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a State is immutable; build a new one")

    def __getitem__(self, name: str) -> Array:
        return self._slots[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __len__(self) -> int:
        return len(self._slots)

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={value!r}' for name, value in self.items())})"


@dataclass(frozen=True)
class Scaling:
    """A homogeneity of a rule: multiply what is named by 2 to its power, and the result scales as ``param`` does.

    Attributes:
        powers: the power of ``param``, ``grad``, ``learning_rate`` and hyperparameters; what is not named stays.
        given: hyperparameters that must have these values.
    """

    powers: Mapping[str, int]
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class SpecialCase:
    """With the hyperparameters ``given``, the rule is the rule ``named`` with hyperparameters ``there``.

    A value in ``there`` that is a string names the hyperparameter of this rule whose value is taken.
    """

    given: Mapping[str, Any]
    named: str
    there: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rule(Declared):
    """The base of every update rule, whose class attributes stand beside those of `Declared`.

    Attributes:
        slots: the names of the state arrays, in the order of the document.
        learning_rate: the documented default, or None where the document requires a value.
        scaling: how the rule scales, if it does.
        special_case: the hyperparameters with which it is another rule, if there are such.
        at_rest: the hyperparameters with which a parameter whose gradient has always been zero keeps its bits; None
            where there are none.
        decay_powers: the decays whose powers a saved state has beside the slots, as fluid saves them.
    """

    slots: ClassVar[tuple[str, ...]] = ()
    learning_rate: ClassVar[float | None] = None
    scaling: ClassVar[Scaling | None] = None
    special_case: ClassVar[SpecialCase | None] = None
    at_rest: ClassVar[Mapping[str, Any] | None] = {}
    decay_powers: ClassVar[tuple[str, ...]] = ()

    @property
    def reads_shapes(self) -> bool:
        """Whether this formula asks for the shape of a parameter; an edited one may where the documented does not."""
        return self.shaped

    def initial_state(self, param: Array) -> State:
        """The state before the first step, shaped like ``param``: zeros unless the rule says otherwise."""
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """The parameter and the state after one step, out of place.

        Args:
            param: the parameter, any shape.
            grad: its gradient, same shape and dtype.
            state: its slots.
            lr: the learning rate of this step, a scalar.
            t: the number of this parameter's updates, this one included: 1 in the first step.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no update")


RULES: dict[str, type[Rule]] = {}
"""Every rule of fluid by name; filled when `optimetry.reference.rules` is imported."""

BOOKS: dict[str, dict[str, type[Rule]]] = {"fluid": RULES}
"""Every book by name, with its rules by theirs; filled when `optimetry.reference.books` is imported."""

RuleType = TypeVar("RuleType", bound=type[Rule])


def documented(rule: RuleType) -> RuleType:
    """Class decorator: enter a documented rule into its book."""
    BOOKS.setdefault(rule.book, {})[rule.name] = rule
    return rule


def rule_named(name: str) -> type[Rule]:
    """The documented rule of that name: ``adam`` of fluid, ``torch.adam`` of another book.

    Raises:
        UnknownOptimizerError: no such rule.
    """
    rules = BOOKS.get(name.partition(".")[0], RULES)
    try:
        return rules[name]
    except KeyError:
        raise UnknownOptimizerError(f"unknown optimizer {name!r}, must be one of: {', '.join(rules)}") from None
