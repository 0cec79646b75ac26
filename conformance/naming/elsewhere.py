"""Offers the rules of other books as explanations: a dialect of one document is often what another one says."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Declared, Hyperparameter

SYNONYMS: Mapping[str, str] = {"eps": "epsilon", "delta": "epsilon", "mu": "beta1", "nu": "beta2"}
"""Names of the same hyperparameter in several books."""


@dataclass(frozen=True, kw_only=True)
class OtherRule(Dialect):
    """A rule of another book, as a formula with the hyperparameters of this one.

    Attributes:
        names: the hyperparameter here that each of its own takes its value from; the others have their defaults.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the formula with these documented hyperparameters."""
        return self.family.of({there: hyper[here] for there, here in self.names.items()})


@cache
def rules_elsewhere(optimizer: str) -> tuple[PointClass, ...]:
    """Return the rules of other books that a rule's hyperparameters are enough for, none for a wrapper.

    Hyperparameters correspond that have the same name and domain; one that has no counterpart here has its default.
    """
    here = subject_named(optimizer)
    others = [subject for subject in SUBJECTS.values() if subject.book != here.book]
    if not isinstance(here, RuleSubject):
        return ()
    found = ((other, _names(here, other)) for other in others if isinstance(other, RuleSubject))
    return tuple(_class(optimizer, other, names) for other, names in found if names is not None)


def _names(here: Subject, there: Subject) -> dict[str, str] | None:
    """Return which hyperparameter here each one there corresponds to; None where one is missing, or none is shared."""
    known = {_identity(parameter): parameter.name for parameter in here.hyperparameters()}
    names = {x.name: known[_identity(x)] for x in there.hyperparameters() if _identity(x) in known}
    missing = [x.name for x in there.hyperparameters() if x.default is None and x.name not in names]
    strange = here.hyperparameters() and not names
    return None if missing or strange else names


def _identity(parameter: Hyperparameter) -> tuple[str, str]:
    return SYNONYMS.get(parameter.name, parameter.name), str(parameter.domain)


def _class(optimizer: str, there: Subject, names: Mapping[str, str]) -> PointClass:
    rule = OtherRule(
        name=there.name,
        family=there.declaration,
        origin=there.document,
        difference=f"the formula of {there.name}",
        names=names,
    )
    return PointClass(optimizer, there.name, ({},), rule)
