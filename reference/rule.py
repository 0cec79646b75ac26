"""What one optimizer declares: its hyperparameters, its slots and one pure update that reads like the formula.

Everything else is derived from the declaration: constructor checks and error texts, case strategies, the state schema
and the rows of the reports.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from optimetry.reference.errors import HyperparameterError, UnknownOptimizerError

Array = Any
"""An ndarray of any float dtype, or an object that NumPy functions dispatch on (NEP 13 and NEP 18)."""


@dataclass(frozen=True)
class Interval:
    """An interval of real numbers, written as in mathematics: ``[0, 1)``."""

    text: str

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper end, infinite where the interval is unbounded."""
        low, high = self.text[1:-1].split(",")
        return float(low), float(high)

    def __contains__(self, value: float) -> bool:
        low, high = self.ends
        above = value >= low if self.text[0] == "[" else value > low
        below = value <= high if self.text[-1] == "]" else value < high
        return above and below

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Hyperparameter:
    """One documented hyperparameter.

    Attributes:
        name: the documented name.
        kind: ``float``, ``int`` or ``bool``.
        domain: the allowed interval; None for a flag.
        default: the documented default; None where the document requires a value.
        meaning: a few words for error texts, tables and glossaries.
        corners: values that tell apart implementations which agree at the default.
    """

    name: str
    kind: type
    domain: Interval | None
    default: float | int | bool | None
    meaning: str
    corners: tuple[float | int | bool, ...]

    def checked(self, optimizer: str, value: Any) -> float | int | bool:
        """``value`` as a plain Python number, or a `HyperparameterError` that says what is allowed."""
        is_flag = isinstance(value, bool | np.bool_)
        is_number = isinstance(value, numbers.Integral if self.kind is int else numbers.Real) and not is_flag
        wrong_type = not (is_flag if self.kind is bool else is_number)
        if wrong_type or (self.domain is not None and not (math.isfinite(value) and value in self.domain)):
            raise HyperparameterError(f"{optimizer}: {self.name} = {value!r}, must be {self.allowed}")
        return self.kind(value)  # type: ignore[no-any-return]

    @property
    def allowed(self) -> str:
        """What a value must be, as it stands in an error text."""
        if self.domain is None:
            return "True or False"
        return f"an integer in {self.domain}" if self.kind is int else f"in {self.domain}"


def hyper(default: float | None, domain: str, meaning: str, *, corners: tuple[float, ...] = ()) -> Any:
    """Declare a real hyperparameter; ``default=None`` means that the document requires a value."""
    return _declared(float, default, domain, meaning, corners)


def count(default: int | None, domain: str, meaning: str, *, corners: tuple[int, ...] = ()) -> Any:
    """Declare a whole-number hyperparameter."""
    return _declared(int, default, domain, meaning, corners)


def flag(default: bool, meaning: str) -> Any:
    """Declare a switch; both positions are corners."""
    return _declared(bool, default, None, meaning, (False, True))


def _declared(kind: type, default: Any, domain: str | None, meaning: str, corners: tuple[Any, ...]) -> Any:
    declaration = {"kind": kind, "domain": domain and Interval(domain), "meaning": meaning, "corners": corners}
    given = {} if default is None else {"default": default}
    return dataclasses.field(**given, metadata={"hyperparameter": declaration})


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
class Rule:
    """The base of every update rule.

    A subclass is a frozen dataclass whose fields are the documented hyperparameters, learning rate aside.

    Class attributes:
        name: the rule's name, as on the command line.
        slots: the names of the state arrays, in the order of the document.
        learning_rate: the documented default, or None where the document requires a value.
        elementwise: whether an element of the result depends on the same element of the inputs alone.
        scaling: how the rule scales, if it does.
        special_case: the hyperparameters with which it is another rule, if there are such.
        at_rest: the hyperparameters with which a parameter whose gradient has always been zero keeps its bits; None
            where there are none.

    Raises:
        HyperparameterError: a value is missing, unknown, of the wrong type, NaN or outside its domain.
    """

    name: ClassVar[str]
    slots: ClassVar[tuple[str, ...]] = ()
    learning_rate: ClassVar[float | None] = None
    elementwise: ClassVar[bool] = True
    scaling: ClassVar[Scaling | None] = None
    special_case: ClassVar[SpecialCase | None] = None
    at_rest: ClassVar[Mapping[str, Any] | None] = {}
    decay_powers: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for declared in self.hyperparameters():
            object.__setattr__(self, declared.name, declared.checked(self.name, getattr(self, declared.name)))

    @classmethod
    def hyperparameters(cls) -> tuple[Hyperparameter, ...]:
        """The declared hyperparameters, in the order of the document."""
        return tuple(
            Hyperparameter(
                name=field.name,
                default=None if field.default is dataclasses.MISSING else field.default,
                **field.metadata["hyperparameter"],
            )
            for field in dataclasses.fields(cls)
            if "hyperparameter" in field.metadata
        )

    @classmethod
    def of(cls, hyper: Mapping[str, Any]) -> Self:
        """The rule with these hyperparameters; what is left out takes its documented default."""
        declared = {parameter.name: parameter for parameter in cls.hyperparameters()}
        for name in hyper:
            if name not in declared:
                raise HyperparameterError(
                    f"{cls.name}: unknown hyperparameter {name!r}, must be among {', '.join(declared) or '(none)'}"
                )
        for name, parameter in declared.items():
            if parameter.default is None and name not in hyper:
                raise HyperparameterError(f"{cls.name}: {name} is missing, must be {parameter.allowed}")
        return cls(**hyper)

    def hyper(self) -> dict[str, float | int | bool]:
        """Every hyperparameter of this rule by its documented name."""
        return {declared.name: getattr(self, declared.name) for declared in self.hyperparameters()}

    def lifted(self, lift: Callable[[str, float], Any]) -> Self:
        """This rule with each real hyperparameter replaced by ``lift(name, value)``, perhaps another kind of number."""
        other = object.__new__(type(self))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            object.__setattr__(other, field.name, lift(field.name, value) if isinstance(value, float) else value)
        return other

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
"""Every documented rule by name; filled when `optimetry.reference.rules` is imported."""

RuleType = TypeVar("RuleType", bound=type[Rule])


def documented(rule: RuleType) -> RuleType:
    """Class decorator: enter a documented rule into `RULES`."""
    RULES[rule.name] = rule
    return rule


def rule_named(name: str) -> type[Rule]:
    """The documented rule of that name.

    Raises:
        UnknownOptimizerError: no such rule.
    """
    try:
        return RULES[name]
    except KeyError:
        raise UnknownOptimizerError(f"unknown optimizer {name!r}, must be one of: {', '.join(RULES)}") from None
