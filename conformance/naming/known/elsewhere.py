"""Offers other rules, of any book, as explanations: a dialect of one document is often what another one says.

Where no rule of theirs explains a target, a named dialect of one may: ``adagrad:epsilon_inside``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.known.points import PointClass, documented_class, formula_of, named_classes
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import LEARNING_RATE, Subject
from optimetry.reference.declaration import Declared, Hyperparameter
from optimetry.reference.rule import Rule

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
    """Another rule, as a formula with the hyperparameters of this one.

    Attributes:
        names: the hyperparameter here that each of its own takes its value from; the others have their defaults.
        without: those of its own that are 0 and have no counterpart here.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Take any point of a family, the documented one as well."""

    @property
    def fixed(self) -> tuple[str, ...]:
        """Its own flags without a counterpart, and the numbers that are 0, as their default may be."""
        own = (x for x in self.family.hyperparameters() if x.name not in self.names)
        return (*(x.name for x in own if x.kind is bool or x.default == 0), *self.without)

    def unused(self, optimizer: str) -> list[str]:
        """Return the numbers of a rule for which it has no use."""
        numbers = (x.name for x in subject_named(optimizer).hyperparameters() if x.kind is not bool)
        return [name for name in numbers if name not in self.names.values()]

    def names_of(self, numbers: Sequence[str]) -> tuple[str, ...]:
        """Return what its own document calls some numbers of this one."""
        own = (there for there, here in self.names.items() if here in numbers)
        return (*own, *[LEARNING_RATE] * (LEARNING_RATE in numbers))

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the formula with these documented hyperparameters, also with one that its own document excludes."""
        given = {there: hyper[here] for there, here in self.names.items()}
        own = {x.name: x for x in self.family.hyperparameters()}
        excluded = {name: x for name, x in given.items() if (domain := own[name].domain) and x not in domain}
        allowed = {name: own[name].corners[0] for name in excluded}
        return super().of(dict.fromkeys(self.without, 0.0) | given | allowed).with_values(excluded)


@cache
def rules_elsewhere(optimizer: str, pinned: frozenset[str] = frozenset()) -> tuple[PointClass, ...]:
    """Return the other rules that have a use for every number of a rule, none for a wrapper.

    Hyperparameters correspond that have the same name, and domains of which one is part of the other; one that has no
    counterpart here has its default. A rule without a use for one would stand for the documented rule that ignores it.

    Args:
        optimizer: the rule's name.
        pinned: the numbers for which no use is needed, as the target cannot be given them.
    """
    others = _others(optimizer, pinned)
    return tuple(_class(optimizer, there, names, documented_class(there.name)) for there, names in others)


@cache
def starts_elsewhere(optimizer: str, unused: frozenset[str]) -> tuple[PointClass, ...]:
    """Return the rules that a search may start from: as `rules_elsewhere`, or with a number at 0; the plainest first.

    One with a number at 0 that leaves another without a use, or that is a plainer rule then, is left out.

    Args:
        optimizer: the rule's name.
        unused: the numbers for which no use is needed.
    """
    others = _others(optimizer, unused, zeros=True)
    starts = [(_class(optimizer, there, names, documented_class(there.name)), there) for there, names in others]
    starts.sort(key=lambda start: (len(_without(start[0])), len(start[1].hyperparameters())))
    hyper = subject_named(optimizer).declaration.typical().hyper()
    known: dict[PointClass, list[float]] = {}
    for start, there in starts:
        computed = _some_steps(start.of(hyper))
        # Two texts of one formula differ by roundings; this chooses where a search starts, and decides no verdict.
        plainer = _without(start) and any(np.allclose(computed, steps, rtol=1e-9) for steps in known.values())
        if not plainer and _uses_all(start, there):
            known[start] = computed
    return tuple(known)


def _without(start: PointClass) -> tuple[str, ...]:
    """Return what another rule is without."""
    return start.dialect.without if isinstance(start.dialect, OtherRule) else ()


def _uses_all(start: PointClass, there: Subject) -> bool:
    """Whether every number of another rule, but for those that are 0, changes what it computes."""
    without = dict.fromkeys(_without(start), 0.0)
    if not without:
        return True
    rule = there.declaration.typical().with_values(without)
    plain = _some_steps(rule)
    return all(
        any(_some_steps(rule.with_values({x.name: corner})) != plain for corner in x.corners)
        for x in there.hyperparameters()
        if x.kind is not bool and x.name not in without
    )


def _some_steps(rule: Declared) -> list[float]:
    """Return the parameters behind each of some steps, whose gradients change their signs."""
    assert isinstance(rule, Rule)
    rng = np.random.default_rng(0)
    param, computed = rng.normal(size=(1, 32)), []
    state = rule.initial_state(param)
    for t in range(1, 5):
        param, state = rule.update(param, rng.normal(size=param.shape), state, 0.1, t)
        computed += param.reshape(-1).tolist()
    return computed


@cache
def dialects_elsewhere(optimizer: str, pinned: frozenset[str] = frozenset()) -> tuple[PointClass, ...]:
    """Return the named dialects of those rules that are of other books.

    What is wrong about another rule of the same book, whose flags differ, is told less well by it than by a mistake in
    this rule: torch's Adam that never decouples its decay is no AdamW that couples it.
    """
    book = subject_named(optimizer).book
    return tuple(
        _class(optimizer, there, names, rule_class)
        for there, names in _others(optimizer, pinned)
        if there.book != book
        for rule_class in named_classes(there.name)
    )


@cache
def without_epsilon(optimizer: str, pinned: frozenset[str] = frozenset()) -> tuple[PointClass, ...]:
    """Return those rules and dialects without the epsilon that a rule does not have, where they have one.

    A port of a rule without one passes an epsilon of 0 to a library's class.
    """
    return tuple(
        _class(optimizer, there, names, rule_class, added)
        for there, names in _others(optimizer, pinned)
        if (added := _epsilons(there, names))
        for rule_class in (documented_class(there.name), *named_classes(there.name))
    )


FORMULAS_ELSEWHERE = rules_elsewhere, dialects_elsewhere, without_epsilon
"""What yields the formulas of other rules for a rule, given also its pinned numbers; the simplest first."""


def _epsilons(there: Subject, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the epsilon of a rule that has no counterpart and may be 0; none where there is none."""
    return tuple(
        x.name for x in there.hyperparameters() if _meaning(x) == "epsilon" and x.name not in names and _may_be_0(x)
    )


def _others(optimizer: str, pinned: frozenset[str], *, zeros: bool = False) -> Iterator[tuple[Subject, dict[str, str]]]:
    """Yield the other rules, each with the hyperparameter here that its own take their values from.

    With ``zeros``, numbers without a counterpart and without a default may be 0.
    """
    here = subject_named(optimizer)
    known = {_meaning(x): x for x in here.hyperparameters()}
    numbers = {x.name for x in here.hyperparameters() if x.kind is not bool} - pinned
    for there in SUBJECTS.values() if isinstance(here, RuleSubject) else ():
        if (
            isinstance(there, RuleSubject)
            and there.name != here.name
            and _comparable(there.declaration, here.declaration)
        ):
            both = ((x, known[_meaning(x)]) for x in there.hyperparameters() if _meaning(x) in known)
            names = {x.name: own.name for x, own in both if _corresponding(x, own)}
            required = {x.name for x in there.hyperparameters() if x.default is None and not (zeros and _may_be_0(x))}
            if required <= set(names) and numbers <= set(names.values()):
                yield there, names


def _comparable(there: type[Declared], here: type[Declared]) -> bool:
    """Whether a rule may stand for another: one of matrices does for none, and what is masked is told by its mask."""
    return there.shaped == here.shaped and there.masked <= here.masked


def _may_be_0(parameter: Hyperparameter) -> bool:
    return parameter.kind is float and parameter.domain is not None and 0.0 in parameter.domain


def _meaning(parameter: Hyperparameter) -> str:
    return SYNONYMS.get(parameter.name, parameter.name)


def _corresponding(one: Hyperparameter, other: Hyperparameter) -> bool:
    """Whether two of the same meaning may have the same values, but for an end that one document excludes."""
    if one.domain is None or other.domain is None:
        return one.domain == other.domain
    return one.domain.is_within(other.domain) or other.domain.is_within(one.domain)


def _class(
    optimizer: str, there: Subject, names: Mapping[str, str], rule_class: PointClass, added: tuple[str, ...] = ()
) -> PointClass:
    required = tuple(x.name for x in there.hyperparameters() if x.default is None and x.name not in names)
    without = (*required, *added)
    lacking = f" without {' and '.join(without)}" if without else ""
    documented, known = rule_class.documented, rule_class.dialect
    name = (there.name if documented else f"{there.name}:{rule_class.name}") + lacking
    of_there = f"of {there.name}{lacking}: {rule_class.difference}"
    rule = OtherRule(
        name=name,
        family=known.family if known else formula_of(there.name),
        point=known.point if known else {},
        origin=there.document if documented else rule_class.origin,
        reference=rule_class.reference,
        difference=f"the formula of {name}" if documented else of_there,
        names=names,
        without=without,
    )
    return PointClass(optimizer, rule.name, ({},), rule)
