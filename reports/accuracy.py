"""The record of how accurately an engine computes an update: its distance from the exact update over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

LARGEST = 1e300
"""Stands for a larger figure, or for an infinite one: a parameter that should rest and moves, or one that is lost."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The distribution of a figure over the elements, to four digits.

    Attributes:
        median: what half of the elements do not exceed.
        p99: what 99 of 100 do not exceed.
        largest: the worst.
    """

    median: float
    p99: float
    largest: float


@dataclass(frozen=True, kw_only=True)
class Point:
    """The error after so many steps.

    Attributes:
        step: how many.
        ulp: of the parameter, in units in the last place of the largest magnitude that it has had so far.
        update: relative to how far the exact rule has moved the parameter since the start.
    """

    step: int
    ulp: Spread
    update: Spread

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Read what a results file holds."""
        return cls(step=fields["step"], ulp=Spread(**fields["ulp"]), update=Spread(**fields["update"]))


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The error of one engine, for one rule at its documented defaults, in one dtype and on one kind of gradients.

    Attributes:
        book: the collection of documents that the rule belongs to.
        gradients: ``normal``, N(0, 1), or ``training``, those of a small model while it is trained.
        hyper: the hyperparameters; a stand-in where the document has no default.
        learning_rate: likewise.
        elements: how many elements each distribution is over.
        undefined: how many other elements are not finite by the exact rule.
        points: the errors, in the order of the steps.
    """

    kind: Literal["accuracy"] = "accuracy"
    book: str
    optimizer: str
    dtype: str
    engine: str = "default"
    gradients: str
    hyper: dict[str, Any] = field(default_factory=dict)
    learning_rate: float
    elements: int
    undefined: int = 0
    points: list[Point] = field(default_factory=list)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Read what a results file holds."""
        return cls(**{**fields, "points": [Point.of(point) for point in fields["points"]]})

    @property
    def about(self) -> tuple[str, ...]:
        """What is measured: two records about the same differ in their figures alone."""
        return self.optimizer, self.dtype, self.engine, self.gradients
