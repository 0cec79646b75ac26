"""Declares dialects: formulas in real use that differ from the documented one, with name, origin and reference.

The dialects of one rule are points of one *family*: a subclass of the documented rule with a field for each *axis*, a
choice in which implementations differ. At the documented value of every axis the family is the documented rule. A
dialect whose whole formula differs, as for most wrappers, is a subclass of its own, at no point.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from optimetry.conformance.subjects.rules import ANY_GRADIENT, EVERY_STEP, OWN
from optimetry.reference.declaration import Declared


@dataclass(frozen=True)
class Axis:
    """One choice in which implementations of a rule differ.

    Attributes:
        name: the field of the family that holds the choice.
        documented: the value that the document chooses.
        values: every value with its meaning, the documented one first.
        rare: the values that make a point only where at most `MOST_WITH_RARE` axes differ and no other value is rare,
            or where a dialect is declared, which keeps families small.
    """

    name: str
    documented: str
    values: Mapping[str, str]
    rare: tuple[str, ...] = ()


MOST_WITH_RARE = 3
"""The most axes in which a point with a rare value differs, its own among them."""


def axis(documented: str, values: Mapping[str, str], rare: tuple[str, ...] = ()) -> Any:
    """Declare an axis as a field of a family; arguments as for `Axis`."""
    for value in (documented, *rare):
        if value not in values:
            raise ValueError(f"documented or rare value {value!r}, must be one of: {', '.join(values)}")
    return dataclasses.field(default=documented, metadata={"axis": values, "rare": rare})


def axes(family: type[Declared]) -> dict[str, Axis]:
    """Return the axes of a family by name, in the order of their declaration."""
    return {
        field.name: Axis(field.name, str(field.default), field.metadata["axis"], field.metadata["rare"])
        for field in dataclasses.fields(family)
        if "axis" in field.metadata
    }


@dataclass(frozen=True)
class StepCount:
    """A way of counting steps that differs from the documented one, t = the number of the parameter's own updates.

    Implementations choose it for all their rules alike, so it is an axis beside each family, not one within it. It
    shows only where a gradient is missing, as in none of a family's probes.

    Attributes:
        name: what a dialect is called that differs in nothing else.
        value: of the field of a family that `step_count` declares.
        origin: which frameworks, versions or papers count so.
        reference: where that can be read.
        difference: what t counts.
    """

    name: str
    value: str
    origin: str = dataclasses.field(repr=False)
    reference: str = dataclasses.field(repr=False)
    difference: str = dataclasses.field(repr=False)


STEP_COUNTS = (
    StepCount(
        name="step_count_global",
        value=EVERY_STEP,
        origin="optax, which has one count for a tree of parameters; apex.optimizers.FusedAdam, one for a group",
        reference="optax/_src/transform.py, scale_by_adam; apex/optimizers/fused_adam.py",
        difference="t counts every step, also those in which the parameter has no gradient",
    ),
    StepCount(
        name="step_count_shared",
        value=ANY_GRADIENT,
        origin="keras.optimizers, whose `iterations` advances when any variable is updated",
        reference="keras/src/optimizers/base_optimizer.py, apply",
        difference="t counts the steps in which any parameter has a gradient",
    ),
)
"""The other ways of counting, which each formula with a field of `step_count` may have."""


def step_count() -> Any:
    """Declare the field of a family whose update uses t: which steps t counts."""
    return dataclasses.field(default=OWN)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One named formula that differs from the documented one.

    Attributes:
        name: unique among the dialects of the subject.
        family: the formulas that this one is a point of, or the formula itself.
        point: the value of every axis that differs from the document; empty for a formula of its own.
        origin: which frameworks, versions or papers compute it.
        reference: where that can be read: a section of a paper, or a source file upstream.
        difference: the line of the formula that differs.

    Raises:
        ValueError: the point names an axis or a value that the family does not have, or no difference at all.
    """

    name: str
    family: type[Declared] = dataclasses.field(repr=False)
    point: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    origin: str = dataclasses.field(repr=False)
    reference: str = dataclasses.field(default="", repr=False)
    difference: str = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        declared = axes(self.family)
        if declared and not self.point:
            raise ValueError(f"{self.optimizer}: dialect {self.name} differs in no axis")
        for name, value in self.point.items():
            allowed = [other for other in declared[name].values if other != declared[name].documented]
            if value not in allowed:
                raise ValueError(
                    f"{self.optimizer}: dialect {self.name}: {name} = {value!r}, must be one of: {', '.join(allowed)}"
                )

    @property
    def optimizer(self) -> str:
        """The name of the documented subject."""
        return self.family.name

    def names_of(self, numbers: Sequence[str]) -> tuple[str, ...]:
        """Return what it calls some of the document's numbers."""
        return tuple(numbers)

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the formula with these documented hyperparameters.

        Raises:
            HyperparameterError: as for the documented formula.
        """
        computed = self.family.of(hyper)
        return dataclasses.replace(computed, **self.point) if self.point else computed


def dialects_of(family: type[Declared]) -> partial[Dialect]:
    """Return what declares dialects of one family."""
    return partial(Dialect, family=family)


@dataclass(frozen=True)
class Setting:
    """The hyperparameters and rates of one probe of a family, and the ranges that its pool of tensors is drawn from.

    Attributes:
        hyper: hyperparameters at which dialects differ.
        rates: the learning rate of each step; it changes between steps.
        sizes: decimal exponents of the parameters.
        grads: decimal exponents of the gradients.
        pool: how many tensors are drawn.
        shapes: what they have in turn, each of as many elements; by default one element where elements are independent,
            else three, and every other tensor is a matrix, which some rules treat differently.
    """

    hyper: dict[str, Any]
    rates: tuple[float, ...] = (0.3, 0.3, 0.07, 0.07)
    sizes: tuple[float, float] = (-2.0, 1.0)
    grads: tuple[float, float] = (-2.0, 1.0)
    pool: int = 200
    shapes: tuple[tuple[int, ...], ...] = ()


FAMILIES: dict[str, type[Declared]] = {}
"""The family of every rule that has axes, by the rule's name."""

DIALECTS: dict[str, tuple[Dialect, ...]] = {}
"""The dialects of each subject that has some, by its name; filled when `optimetry.conformance.naming.families` is
imported."""


SETTINGS: dict[str, tuple[Setting, ...]] = {}
"""The settings of each family's probes; filled likewise."""

WITH_ARITHMETIC: dict[str, type[Declared]] = {}
"""The documented formula of a subject without a family, with a field for each way of computing it; filled likewise."""


def declare(
    *dialects: Dialect, settings: tuple[Setting, ...] = (), with_arithmetic: type[Declared] | None = None
) -> None:
    """Enter the named dialects of one subject, and the family whose points they are.

    Args:
        dialects: all dialects of the subject.
        settings: one for each probe of the family, which ``python -m optimetry.conformance.naming.known.probe_search``
            finds.
        with_arithmetic: the documented formula with a choice of how it is computed, where no family holds it.

    Raises:
        ValueError: two dialects have one name, or they are of several subjects or families.
    """
    names, optimizer = [dialect.name for dialect in dialects], dialects[0].optimizer
    families = {dialect.family for dialect in dialects if axes(dialect.family)}
    if len(set(names)) < len(names) or len(families) > 1 or any(dialect.optimizer != optimizer for dialect in dialects):
        raise ValueError(f"{optimizer}: dialects {', '.join(names)}, must differ in name and be of one family")
    DIALECTS[optimizer] = dialects
    if settings:
        SETTINGS[optimizer] = settings
    FAMILIES.update((optimizer, family) for family in families)
    if with_arithmetic:
        WITH_ARITHMETIC[optimizer] = with_arithmetic
