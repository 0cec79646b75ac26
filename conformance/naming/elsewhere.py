"""Offers the rules of other books as explanations: a dialect of one document is often what another one says.

Where no rule of theirs explains a target, a named dialect of one may: ``adagrad:epsilon_inside``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.points import PointClass, documented_class, formula_of, named_classes
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Declared, Hyperparameter

SYNONYMS: Mapping[str, str] = {
    "alpha": "rho",
    "delta": "epsilon",
    "eps": "epsilon",
    "eta": "lars_coeff",
    "l1": "lambda1",
    "l2": "lambda2",
    "lamb_weight_decay": "weight_decay",
    "lars_weight_decay": "weight_decay",
    "mu": "beta1",
    "nu": "beta2",
    "use_nesterov": "nesterov",
}
"""Names of the same hyperparameter in several books: each as another one calls it."""


@dataclass(frozen=True, kw_only=True)
class OtherRule(Dialect):
    """A rule of another book, as a formula with the hyperparameters of this one.

    Attributes:
        names: the hyperparameter here that each of its own takes its value from; the others have their defaults.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Take any point of a family, the documented one as well."""

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the formula with these documented hyperparameters."""
        return super().of({there: hyper[here] for there, here in self.names.items()})


@cache
def rules_elsewhere(optimizer: str, pinned: frozenset[str] = frozenset()) -> tuple[PointClass, ...]:
    """Return the rules of other books that have a use for every number of a rule, none for a wrapper.

    Hyperparameters correspond that have the same name and domain; one that has no counterpart here has its default. A
    rule without a use for one would stand for the documented rule that ignores it.

    Args:
        optimizer: the rule's name.
        pinned: the numbers that the target cannot be given, for which no use is needed.
    """
    others = _others(optimizer, pinned)
    return tuple(_class(optimizer, there, names, documented_class(there.name)) for there, names in others)


@cache
def dialects_elsewhere(optimizer: str, pinned: frozenset[str] = frozenset()) -> tuple[PointClass, ...]:
    """Return the named dialects of those rules."""
    others = _others(optimizer, pinned)
    return tuple(_class(optimizer, there, names, one) for there, names in others for one in named_classes(there.name))


def _others(optimizer: str, pinned: frozenset[str]) -> Iterator[tuple[Subject, dict[str, str]]]:
    """Yield the rules of other books, each with the hyperparameter here that its own take their values from."""
    here = subject_named(optimizer)
    known = {_identity(x): x.name for x in here.hyperparameters()}
    numbers = {x.name for x in here.hyperparameters() if x.kind is not bool} - pinned
    for there in SUBJECTS.values():
        rules = isinstance(here, RuleSubject) and isinstance(there, RuleSubject)
        if (
            rules and there.book != here.book and there.shaped == here.shaped
        ):  # what is of matrices stands for nothing else
            names = {x.name: known[_identity(x)] for x in there.hyperparameters() if _identity(x) in known}
            required = {x.name for x in there.hyperparameters() if x.default is None}
            if required <= set(names) and numbers <= set(names.values()):
                yield there, names


def _identity(parameter: Hyperparameter) -> tuple[str, str]:
    return SYNONYMS.get(parameter.name, parameter.name), str(parameter.domain)


def _class(optimizer: str, there: Subject, names: Mapping[str, str], one: PointClass) -> PointClass:
    rule = OtherRule(
        name=there.name if one.documented else f"{there.name}:{one.name}",
        family=one.dialect.family if one.dialect else formula_of(there.name),
        point=one.dialect.point if one.dialect else {},
        origin=there.document if one.documented else one.origin,
        reference=one.reference,
        difference=f"the formula of {there.name}" if one.documented else f"of {there.name}: {one.difference}",
        names=names,
    )
    return PointClass(optimizer, rule.name, ({},), rule)
