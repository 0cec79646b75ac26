"""The record of an exhaustive comparison: every pair of a parameter and a gradient, or a drawn share of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

Step = Literal["first", "later"]

SHOWN = 3
"""The most failures that a certificate keeps with their arguments: the first ones."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A largest figure, and the arguments where it occurs first.

    Attributes:
        value: the figure.
        parameter: the parameter before the first step, by its bits: ``0x3f81``.
        gradients: of each step, likewise.
    """

    value: float
    parameter: str
    gradients: list[str]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One result outside the slack.

    Attributes:
        parameter: as for `Place`.
        gradients: likewise.
        result: what the target returned, by its bits.
        expected: what the documented rule gives, in wide precision.
        bound: how far a working-precision evaluation may be from it.
    """

    parameter: str
    gradients: list[str]
    result: str
    expected: float
    bound: float


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The comparison of one engine with one rule on all pairs of a parameter and a gradient, or on a share of them.

    Certificates about the same add up: that of a run is the sum of those of its blocks, in their order.

    Attributes:
        book: the collection of documents that the rule belongs to.
        step: ``first``, or ``later``: from states that drawn gradients have led to.
        setting: ``defaults``, or the hyperparameter that differs from its default: ``beta1 = 0.5``.
        hyper: the hyperparameters.
        learning_rate: of every step.
        seed: the seed of the drawn parameters, states and share.
        space: how many pairs there are.
        pairs: how many of them were compared.
        vacuous: how many of those have a bound that is not finite, so that nothing can be said of them.
        failures: how many are outside the slack.
        flushed: how many are within the slack only if a subnormal may become zero; they are no failures.
        share: the largest error ratio, with the arguments; None where no bound is finite.
        ulp: the largest difference in units in the last place, likewise.
        examples: the first failures.
        reason: why the comparison ended early: how the target broke the protocol; empty where it did not.
    """

    kind: Literal["certificate"] = "certificate"
    book: str
    optimizer: str
    dtype: str
    engine: str = "default"
    step: Step
    setting: str
    hyper: dict[str, Any] = field(default_factory=dict)
    learning_rate: float
    seed: int
    space: int
    pairs: int = 0
    vacuous: int = 0
    failures: int = 0
    flushed: int = 0
    share: Place | None = None
    ulp: Place | None = None
    examples: list[Failure] = field(default_factory=list)
    reason: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Read what a results file holds."""
        places = {name: fields[name] and Place(**fields[name]) for name in ("share", "ulp")}
        return cls(**{**fields, **places, "examples": [Failure(**each) for each in fields["examples"]]})

    @property
    def about(self) -> tuple[str, ...]:
        """What is compared: two records about the same differ in their figures alone."""
        return self.optimizer, self.dtype, self.engine, self.step, self.setting

    @property
    def judged(self) -> int:
        """How many compared pairs have a finite bound."""
        return self.pairs - self.vacuous

    @property
    def holds(self) -> bool:
        """Whether the comparison ran to its end, and no pair of those with a finite bound, at least one, failed."""
        return not self.failures and not self.reason and self.judged > 0

    def __add__(self, other: Certificate) -> Certificate:
        return replace(
            self,
            pairs=self.pairs + other.pairs,
            vacuous=self.vacuous + other.vacuous,
            failures=self.failures + other.failures,
            flushed=self.flushed + other.flushed,
            share=_larger(self.share, other.share),
            ulp=_larger(self.ulp, other.ulp),
            examples=[*self.examples, *other.examples][:SHOWN],
            reason=self.reason or other.reason,
        )


def _larger(a: Place | None, b: Place | None) -> Place | None:
    """Return the larger of two figures, the first if they are equal."""
    if a is None or b is None:
        return a or b
    return b if b.value > a.value else a
