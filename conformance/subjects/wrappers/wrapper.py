"""What one wrapper declares: its hyperparameters, one pure function of what it is fed, and the variants in real use.

A wrapper is no update rule: it sees all gradients, or all parameters, at once. Everything else is as with rules: cases
and error texts follow from the declaration, and the oracle is the declaration evaluated on `Bounded` numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from optimetry.reference.errors import UnknownOptimizerError
from optimetry.reference.rule import Array, Rule


@dataclass(frozen=True, kw_only=True)
class Wrapper(Rule, ABC):
    """The base of every wrapper.

    Class attributes:
        averages: whether it is fed parameters and gives averages; else it is fed gradients and gives gradients.
        clips: whether it limits what it is fed, so that a second time changes nothing.
        elementwise: whether an element of the result depends on the same element alone.
        joint: whether a gradient's result depends on the other gradients.
        symmetric: whether negating what it is fed negates what it gives.
    """

    averages: ClassVar[bool] = False
    clips: ClassVar[bool] = False
    joint: ClassVar[bool] = False

    @property
    def symmetric(self) -> bool:
        """Whether negating parameters and gradients negates the result."""
        return True

    @abstractmethod
    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """What the wrapper gives, and its state afterwards, out of place.

        Args:
            fed: the gradients of one step, or the parameters after it; one array for each parameter.
            parameters: the parameters that the run began with, of the same shapes and dtypes.
            state: what the last call returned; None in the first.
        """


@dataclass(frozen=True)
class Variant:
    """One named wrapper that differs from the documented one.

    Attributes:
        name: unique among the variants of the wrapper.
        kind: what is computed instead; it has the documented hyperparameters.
        difference: the line that differs, as a formula.
        origin: which frameworks compute it.
        dtypes: the dtypes in which it can be told from the documented one; None for all.
    """

    name: str
    kind: type[Wrapper]
    difference: str
    origin: str
    dtypes: tuple[str, ...] | None = None


WRAPPERS: dict[str, type[Wrapper]] = {}
"""Every documented wrapper by name."""

VARIANTS: dict[str, tuple[Variant, ...]] = {}
"""The variants of every wrapper by its name."""

WrapperType = TypeVar("WrapperType", bound=type[Wrapper])


def wrapper(kind: WrapperType) -> WrapperType:
    """Class decorator: enter a documented wrapper into `WRAPPERS`."""
    WRAPPERS[kind.name] = kind
    VARIANTS[kind.name] = ()
    return kind


def variant(
    name: str, difference: str, origin: str, dtypes: tuple[str, ...] | None = None
) -> Callable[[WrapperType], WrapperType]:
    """Class decorator: enter a variant of the wrapper whose ``name`` the class has inherited.

    Raises:
        ValueError: the wrapper has a variant of that name.
    """

    def enter(kind: WrapperType) -> WrapperType:
        if name in {other.name for other in VARIANTS[kind.name]}:
            raise ValueError(f"{kind.name}: variant {name} is declared twice")
        VARIANTS[kind.name] += (Variant(name, kind, difference, origin, dtypes),)
        return kind

    return enter


def wrapper_named(name: str) -> type[Wrapper]:
    """The documented wrapper of that name.

    Raises:
        UnknownOptimizerError: no such wrapper.
    """
    try:
        return WRAPPERS[name]
    except KeyError:
        raise UnknownOptimizerError(f"unknown wrapper {name!r}, must be one of: {', '.join(WRAPPERS)}") from None
