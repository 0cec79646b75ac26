"""Rules in real use that differ from the documented one, each with a name, an origin and a reference.

The dialects of one rule are points of one *family*: a subclass of the documented rule with a field per *axis*, a
choice in which implementations differ. At the documented value of every axis the family is the documented rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimetry.reference.rule import Rule
from optimetry.reference.rules import RULES


@dataclass(frozen=True)
class Axis:
    """One choice in which implementations of a rule differ.

    Attributes:
        name: the field of the family that holds the choice.
        documented: the value that the document chooses.
        values: every value with its meaning, the documented one first.
    """

    name: str
    documented: str
    values: Mapping[str, str]


def axis(documented: str, values: Mapping[str, str]) -> Any:
    """Declare an axis as a field of a family: its documented value, and every value with its meaning."""
    if documented not in values:
        raise ValueError(f"documented value {documented!r}, must be one of: {', '.join(values)}")
    return dataclasses.field(default=documented, metadata={"axis": values})


def axes(family: type[Rule]) -> dict[str, Axis]:
    """The axes of a family by name, in the order of their declaration."""
    return {
        field.name: Axis(field.name, str(field.default), field.metadata["axis"])
        for field in dataclasses.fields(family)
        if "axis" in field.metadata
    }


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One named rule that differs from the documented one.

    Attributes:
        name: unique among the dialects of the rule.
        family: the rules that this one is a point of.
        point: the value of every axis that differs from the document.
        origin: which frameworks, versions or papers compute it.
        reference: where that can be read: a section of a paper, or a source file upstream.
        difference: the line of the rule that differs, as a formula.

    Raises:
        ValueError: the point names an axis or a value that the family does not have, or no difference at all.
    """

    name: str
    family: type[Rule] = dataclasses.field(repr=False)
    point: Mapping[str, str] = dataclasses.field(hash=False)
    origin: str = dataclasses.field(repr=False)
    reference: str = dataclasses.field(repr=False)
    difference: str = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        declared = axes(self.family)
        if not self.point:
            raise ValueError(f"{self.optimizer}: dialect {self.name} differs in no axis")
        for name, value in self.point.items():
            allowed = [other for other in declared[name].values if other != declared[name].documented]
            if value not in allowed:
                raise ValueError(
                    f"{self.optimizer}: dialect {self.name}: {name} = {value!r}, must be one of: {', '.join(allowed)}"
                )

    @property
    def optimizer(self) -> str:
        """The name of the documented rule."""
        return self.family.name

    def rule(self, hyper: Mapping[str, Any]) -> Rule:
        """The rule at this point, with these documented hyperparameters.

        Raises:
            HyperparameterError: as for the documented rule.
        """
        return dataclasses.replace(self.family.of(hyper), **self.point)


FAMILIES: dict[str, type[Rule]] = {}
"""The family of every rule that has dialects, by the rule's name."""

DIALECTS: dict[str, tuple[Dialect, ...]] = dict.fromkeys(RULES, ())
"""The dialects of every documented rule by its name; filled when `optimetry.conformance.dialects` is imported."""


def declare(family: type[Rule], *dialects: Dialect) -> None:
    """Enter a family and its named dialects.

    Raises:
        ValueError: two dialects have one name, or one belongs to another family.
    """
    names = [dialect.name for dialect in dialects]
    if len(set(names)) < len(names) or any(dialect.family is not family for dialect in dialects):
        raise ValueError(f"{family.name}: dialects {', '.join(names)}, must be of {family.__name__} and differ in name")
    FAMILIES[family.name] = family
    DIALECTS[family.name] = dialects
