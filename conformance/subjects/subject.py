"""Declares the protocol of a subject: something documented that runs on a case, on any kind of number.

An update rule is a subject, and so are a clip, a regularizer, an average and a compression of gradients. The oracle,
the laws, the families of dialects, counterexamples and planted faults work on subjects alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import Drawn
from optimetry.conformance.numerics.arrays import Array
from optimetry.reference.declaration import Declared

LEARNING_RATE = "learning_rate"
"""The name under which the learning rate of a step becomes a number."""

DECAY_STRENGTHS = ("weight_decay", "lamb_weight_decay", "lars_weight_decay")
"""What books call the strength of the weight decay of a rule."""


class Numbers(Protocol):
    """A kind of number that a subject is evaluated on: working precision, quad precision, or `Bounded`."""

    def array(self, array: Array) -> Any:
        """Turn an array of the case into numbers."""
        ...

    def scalar(self, name: str, number: float) -> Any:
        """Turn a real hyperparameter, or the `LEARNING_RATE`, into a number."""
        ...


@dataclass(frozen=True)
class Subject(Drawn):
    """Something documented that can be judged.

    Class attributes:
        has_learning_rate: whether it uses the learning rate of a step.
    """

    has_learning_rate: ClassVar[bool] = False

    @property
    def adds_up(self) -> bool:
        """Whether it adds up what it is fed, in an order that its document leaves open."""
        return self.declaration.adds_up

    @property
    def book(self) -> str:
        """The collection of documents that it belongs to."""
        return self.declaration.book

    @property
    def document(self) -> str:
        """The page that documents it."""
        return self.declaration.document()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of its real numbers, which an implementation may hold in less precision."""
        real = [parameter.name for parameter in self.hyperparameters() if parameter.kind is float]
        return (*real, *[LEARNING_RATE] * self.has_learning_rate)

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the documented formula with these hyperparameters.

        Raises:
            HyperparameterError: one is missing, unknown or not allowed.
        """
        return self.declaration.of(hyper)

    @abstractmethod
    def trajectory(self, case: Case, numbers: Numbers, computed: Declared | None = None) -> Iterator[Sequence[Any]]:
        """Evaluate the subject and yield what it returns after each step: one array of numbers for each parameter.

        Args:
            case: what it is fed.
            numbers: the kind of number.
            computed: another formula with the same inputs; the documented one by default.
        """

    @abstractmethod
    def magnitudes(self, case: Case) -> Sequence[Array]:
        """Return the largest magnitudes among the inputs, from which ULP are counted; one array for each parameter."""
