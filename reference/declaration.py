"""What a document declares of an optimizer or a wrapper: a name and hyperparameters, each with default and domain.

Constructor checks and error texts, case strategies and the rows of the reports follow from the declaration.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from optimetry.reference.errors import HyperparameterError


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

    def is_within(self, other: Interval) -> bool:
        """Return whether every number in it is in another interval."""
        (low, high), (least, most) = self.ends, other.ends
        above = low > least or (low == least and (other.text[0] == "[" or self.text[0] == "("))
        below = high < most or (high == most and (other.text[-1] == "]" or self.text[-1] == ")"))
        return above and below

    def __str__(self) -> str:
        return self.text


def is_finite(value: Any) -> bool:
    """Return whether a real number is finite as a float; an int may be too large for one."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


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
        if wrong_type or (self.domain is not None and not (is_finite(value) and value in self.domain)):
            raise HyperparameterError(f"{optimizer}: {self.name} = {value!r}, must be {self.allowed}")
        return self.kind(value)  # type: ignore[no-any-return]

    @property
    def allowed(self) -> str:
        """The allowed values, as an error text names them."""
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
    keywords = {} if default is None else {"default": default}
    return dataclasses.field(**keywords, metadata={"hyperparameter": declaration})


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The base of everything documented that has hyperparameters.

    A subclass is a frozen dataclass whose fields are the documented hyperparameters, learning rate aside.

    Class attributes:
        name: its name, as on the command line.
        book: the collection of documents that holds it; a name from another book than fluid begins with it.
        elementwise: whether an element of the result depends on the same element of the inputs alone.
        counts_zeros: whether elements that are zero in all inputs change the results of others; a norm does not.
        shaped: whether results depend on the shape of a parameter: rows and columns are distinguished.
        masked: whether an element whose gradient is 0 is left alone, with its state.
        joint: whether what one parameter gets depends on the others.
        adds_up: whether it adds up what it is fed, in an order that its document leaves open.

    Raises:
        HyperparameterError: a value is of the wrong type, NaN or outside its domain.
    """

    name: ClassVar[str]
    book: ClassVar[str] = "fluid"
    elementwise: ClassVar[bool] = True
    counts_zeros: ClassVar[bool] = False
    shaped: ClassVar[bool] = False
    masked: ClassVar[bool] = False
    joint: ClassVar[bool] = False
    adds_up: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for declared in self.hyperparameters():
            object.__setattr__(self, declared.name, declared.checked(self.name, getattr(self, declared.name)))

    @classmethod
    @cache
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
    def takes(cls, shape: tuple[int, ...]) -> bool:
        """Return whether the document defines the update of a parameter of this shape."""
        return True

    @classmethod
    def epsilon_shows_at(cls, epsilon: float, hyper: Mapping[str, Any]) -> float:
        """Return the magnitude of a gradient near which an epsilon decides the result: by default its own."""
        return epsilon

    @classmethod
    def of(cls, hyper: Mapping[str, Any]) -> Self:
        """The declaration with these hyperparameters; what is left out takes its documented default.

        Raises:
            HyperparameterError: a value is missing, or not allowed, or a name is unknown.
        """
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

    @classmethod
    def typical(cls) -> Self:
        """The declaration with its defaults, and the first corner of a hyperparameter without one."""
        return cls(**{x.name: x.corners[0] for x in cls.hyperparameters() if x.default is None})

    def hyper(self) -> dict[str, float | int | bool]:
        """Every hyperparameter by its documented name."""
        return {declared.name: getattr(self, declared.name) for declared in self.hyperparameters()}

    def lifted(self, lift: Callable[[str, float], Any]) -> Self:
        """The same with each real hyperparameter replaced by ``lift(name, value)``, perhaps another kind of number."""
        held = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return self.with_values({name: lift(name, value) for name, value in held.items() if isinstance(value, float)})

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The same with other values of some fields, which are not checked."""
        other = object.__new__(type(self))
        for field in dataclasses.fields(self):
            value = values[field.name] if field.name in values else getattr(self, field.name)
            object.__setattr__(other, field.name, value)
        return other

    @classmethod
    def formulas(cls) -> list[str]:
        """The formulas of its docstring, as LaTeX in the lines that they have there."""
        blocks = re.findall(r"^\.\. math::(.*\n?(?:\n| .*\n?)*)", inspect.getdoc(cls) or "", re.MULTILINE)
        return [formula for block in blocks for formula in block.split("\n\n") if formula.strip()]

    @classmethod
    def document(cls) -> str:
        """The document, as the docstring names it behind ``Documented:``; empty where it names none.

        That is a page, the docstring of a class, or a publication: ``Kingma & Ba (2015), algorithm 1``.
        """
        page, publication = r"\S+ \((?:pages? [^)]+|docstring)\)", r"[^()\n]+ \(\d{4}\), [^.\n]+"
        match = re.search(f"Documented: ({page}|{publication})", cls.__doc__ or "")
        return match[1] if match else ""
