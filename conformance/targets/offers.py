"""Tables of what frameworks offer, from subject to class and arguments, and the target that offers what is in one.

Benchmarks read the same tables, so what is timed is what is judged. This file needs Python's own library alone, and
neither this nor the folder of a framework apart imports more than that framework and NumPy: `python_harness` makes them
known to an interpreter that has no optimetry. It may be Python 3.7, the last that has fluid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

Source: TypeAlias = "str | tuple[str, ...]"
"""What an argument is given: one documented hyperparameter, or several of them as a tuple.

``1-beta1`` is the complement of one: what an old average keeps, where the document has what a new value adds.
"""

COMPLEMENT = "1-"

MADE_AT = 0.625
"""The learning rate that a constructor is given; each step sets its own.

It is not 1, by which a class might divide or multiply without being noticed.
"""


def documented_name(name: str) -> str:
    """Return the hyperparameter of which an argument is given the value, or the complement."""
    return name[len(COMPLEMENT) :] if name.startswith(COMPLEMENT) else name  # Python 3.7 has no removeprefix


def refused_nesterov(hyper: Hyper) -> bool:
    """Check for Nesterov's step without momentum or with dampening, which torch's SGD and those like it refuse."""
    nesterov = hyper.get("use_nesterov", hyper.get("nesterov"))
    return bool(nesterov and (hyper["momentum"] == 0 or hyper.get("dampening")))


def passed(arguments: Mapping[str, Source], hyper: Hyper) -> dict[str, Any]:
    """Return what each argument is given."""

    def value(name: str) -> Any:
        return 1 - hyper[documented_name(name)] if name.startswith(COMPLEMENT) else hyper[name]

    return {
        argument: value(source) if isinstance(source, str) else tuple(map(value, source))
        for argument, source in arguments.items()
    }


@dataclass(frozen=True)
class Offer(ABC):
    """One row of a framework's table: how it computes one rule or wrapper.

    Rows that may have no argument for a hyperparameter have a field ``pinned``: such hyperparameters, each with the one
    value that it can have. Python 3.7 has no fields that are given by keyword alone, so it comes after their others.
    """

    def held(self) -> Mapping[str, Any]:
        """Return what is pinned."""
        pinned: Mapping[str, Any] = getattr(self, "pinned", {})
        return pinned

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why these hyperparameters, this dtype or this engine are not offered; None where they are."""
        return None

    @abstractmethod
    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Any:
        """Begin a run on copies of ``parameters``."""


FLOATS = ("float32", "float64")
"""The dtypes that most kernels take."""


class OnKernels(Offer):
    """A row of which a framework has kernels for some dtypes alone.

    Attributes:
        framework: its name.
        dtypes: those that there are kernels for.
    """

    framework = ""
    dtypes: tuple[str, ...] = FLOATS

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why not in this dtype."""
        return None if dtype in self.dtypes else f"{self.framework} has no {dtype} CPU kernel for {subject}"


@dataclass(frozen=True)
class ClassOffer(Offer):
    """Maps one documented rule to a class of a framework, or a function that makes an optimizer, and its arguments.

    Attributes:
        cls: the class, or its name.
        arguments: keyword -> documented hyperparameter, or several of them as a tuple.
        constants: keywords outside the documented rule that are set.
        slots: slot -> the framework's name of that part of its state.
        pinned: hyperparameters that have no argument, with the value that they can have.
        positive: hyperparameters that the document lets be 0 and the class does not.
        words: keywords that are a word, each with the flag that stands for it, and the word; None where it is off.
    """

    cls: Any
    arguments: Mapping[str, Source] = field(default_factory=dict)
    constants: Mapping[str, object] = field(default_factory=dict)
    slots: Mapping[str, str] = field(default_factory=dict)
    pinned: Mapping[str, Any] = field(default_factory=dict)
    positive: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def keywords(self, hyper: Hyper) -> dict[str, Any]:
        """The keyword arguments for ``hyper``."""
        words = {argument: word if hyper[name] else None for argument, (name, word) in self.words.items()}
        return {**self.constants, **passed(self.arguments, hyper), **words}

    def zero_refused(self, module: str, hyper: Hyper) -> str | None:
        """Return why the class, of this module, refuses a hyperparameter that is 0; None where it does not."""
        zero = next((name for name in self.positive if hyper[name] == 0), None)
        return None if zero is None else f"{module}.{self.cls} refuses {zero} = 0"

    def refused(self, *parameters: Any, **keywords: Any) -> str | None:
        """Make an optimizer, and return what the class says where it refuses its arguments, None where it does not."""
        try:
            self.cls(*parameters, **keywords)
        except (ValueError, AssertionError, RuntimeError) as error:  # NotImplementedError is a RuntimeError
            why = " ".join(["refuses it:", *str(error).split()]) if str(error) else "refuses it"
            return f"{getattr(self.cls, '__name__', self.cls)} {why}"
        return None


class TableTarget:
    """A target that offers the subjects of its table, and no other.

    Attributes:
        name: the framework's.
        version: what is installed.
        offers: the table.
        absent: reasons for some of the subjects that it does not offer.
        engine_names: the implementations that are judged apart, the first by default.
        tables: the table of each implementation, where each has its own.
    """

    name: str
    version: str
    offers: Mapping[str, Any]
    absent: Mapping[str, str] = {}
    engine_names: tuple[str, ...] = ("default",)
    tables: Mapping[str, Mapping[str, Any]] = {}

    def __init__(self, engine: str | None = None) -> None:
        self.engine = self.engine_names[0] if engine is None else engine
        if self.engine not in self.engine_names:
            raise ValueError(f"{self.name}: engine = {engine!r}, must be one of {', '.join(self.engine_names)}")
        if self.tables:
            self.offers = self.tables[self.engine]

    def engines(self) -> Sequence[Self]:
        """Return one target for each implementation."""
        return [type(self)(engine) for engine in self.engine_names]

    @property
    def pinned(self) -> Mapping[str, Mapping[str, Any]]:
        """The hyperparameters of each subject that can have one value alone."""
        return {name: offer.held() for name, offer in self.offers.items() if offer.held()}

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Return why this rule or wrapper, these hyperparameters or this dtype are not offered; None where they are."""
        offer: Offer | None = self.offers.get(optimizer)
        if offer is None:
            return self.absent.get(optimizer, f"nothing in {self.name} is known for {optimizer}")
        return offer.refusal(optimizer, hyper, dtype, self.engine)

    def start(self, optimizer: str, hyper: Hyper, parameters: Sequence[Array]) -> Any:
        """Begin a run of a rule or a wrapper on copies of ``parameters``.

        Raises:
            ValueError: it is not offered; the text says why.
        """
        for dtype in dict.fromkeys([parameter.dtype.name for parameter in parameters] or ["float32"]):
            reason = self.unsupported(optimizer, hyper, dtype)
            if reason is not None:
                raise ValueError(f"{optimizer}: {reason}")
        offer: Offer = self.offers[optimizer]
        return offer.start(optimizer, hyper, parameters, self.engine)

    start_wrapper = start


def lopsided(hyper: Hyper) -> bool:
    """Whether a clip's limits are not [-c, c], which is all that most frameworks clip to."""
    return "min" in hyper and hyper["min"] != -hyper["max"]
