"""Reads what a target's library cannot do from the attributes that say so, and refuses words that mean nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from optimetry.conformance.cases.offered import CANNOT, MISSING, RATES_THAT_CHANGE, UNLIMITED, Limits
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import not_among
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.declaration import Hyperparameter, Interval
from optimetry.reference.errors import HyperparameterError, TargetError

PINNED, AT_MOST = BOUNDING = ("pinned", "at_most")
"""The attributes that bound hyperparameters."""

SHARED = "shared"
"""The attribute that says which hyperparameters all groups of a run have in common."""

ONE_RATE = Hyperparameter(LEARNING_RATE, float, Interval("(0, inf)"), None, "the step size", ())
"""The learning rate, which is given with each step and can be pinned like a hyperparameter."""


def limits_of(target: Any, optimizer: str) -> Limits:
    """Return what a target, which `hold_limits` has passed, does not offer of one subject."""
    cannot = frozenset(getattr(target, "cannot", ()))
    bounds = [getattr(target, attribute, {}).get(optimizer, {}) for attribute in BOUNDING]
    if not cannot and not any(bounds):
        return UNLIMITED
    subject = subject_named(optimizer)
    if not isinstance(subject, RuleSubject):
        cannot -= {MISSING, RATES_THAT_CHANGE}  # a wrapper is given gradients of all parameters, and no rates, anyway
    kinds = {declared.name: declared.kind for declared in subject.hyperparameters()}
    pinned, at_most = (
        tuple((name, kinds[name](value)) for name, value in bound.items() if name in kinds) for bound in bounds
    )
    rate = bounds[0].get(LEARNING_RATE)
    return Limits(cannot, pinned, at_most, None if rate is None else float(rate))


def constants_of(limits: Limits) -> dict[str, Any]:
    """Return what a target says has one value alone: hyperparameters, and perhaps the learning rate."""
    rate = {} if limits.rate is None else {LEARNING_RATE: limits.rate}
    return dict(limits.pinned) | rate


def dtype_refused(target: Any, dtype: str) -> str | None:
    """Return why a dtype is not offered, None where it is."""
    offered = getattr(target, "dtypes", None)
    if offered is None or dtype in offered:
        return None
    return f"{target.name} offers {', '.join(offered) or 'no dtype'} only"


def hold_limits(target: Any, spec: str) -> None:
    """Check the attributes of a target, which error texts call ``spec``.

    Raises:
        TargetError: one is of the wrong type, or has a word, name or value that is not allowed; the text says what is.
    """
    for problem in _problems(target):
        raise TargetError(f"target {spec}: {problem}")


def _problems(target: Any) -> Iterator[str]:
    for attribute, kind, allowed in (("cannot", "word", CANNOT), ("dtypes", "dtype", tuple(FORMATS))):
        words = getattr(target, attribute, None) or ()
        if not _is_list(words):
            yield f"{attribute} = {words!r}, must be a collection of names, such as {{{allowed[0]!r}}}"
        else:
            yield from (f"{attribute}: {not_among(kind, str(x), allowed)}" for x in words if x not in allowed)
    for attribute in BOUNDING:
        bounds = getattr(target, attribute, {})
        example = "a mapping from optimizers to hyperparameters and values, such as {'adam': {'epsilon': 1e-8}}"
        if not isinstance(bounds, Mapping) or not all(isinstance(bound, Mapping) for bound in bounds.values()):
            yield f"{attribute} = {bounds!r}, must be {example}"
            return
        for optimizer, bound in bounds.items():
            yield from (f"{attribute}: {problem}" for problem in _wrong(attribute, optimizer, bound))
    shared = getattr(target, SHARED, {})
    if not isinstance(shared, Mapping) or not all(map(_is_list, shared.values())):
        yield f"{SHARED} = {shared!r}, must be a mapping from optimizers to hyperparameters: {{'adam': ['epsilon']}}"
        return
    for optimizer, names in shared.items():
        yield from (f"{SHARED}: {problem}" for problem in _unknown(optimizer, names))
    for optimizer, bound in getattr(target, AT_MOST, {}).items():
        both = [name for name in bound if name in getattr(target, PINNED, {}).get(optimizer, {})]
        yield from (f"{AT_MOST}: {optimizer}: {name} is pinned, and needs no largest value" for name in both)


def _is_list(names: Any) -> bool:
    """Whether something is a collection of names, and not one name."""
    return isinstance(names, Collection) and not isinstance(names, str)


def _unknown(optimizer: str, names: Iterable[str], attribute: str = SHARED) -> Iterator[str]:
    """Yield which hyperparameters an optimizer does not have, or that there is no such optimizer."""
    if optimizer not in SUBJECTS:
        yield not_among("optimizer", optimizer, SUBJECTS)
        return
    declared = _declared(optimizer, attribute)
    yield from (f"{optimizer}: {not_among('hyperparameter', x, declared)}" for x in names if x not in declared)


def _declared(optimizer: str, attribute: str) -> dict[str, Hyperparameter]:
    subject = subject_named(optimizer)
    declared = {parameter.name: parameter for parameter in subject.hyperparameters()}
    return declared | {LEARNING_RATE: ONE_RATE} if attribute == PINNED and subject.has_learning_rate else declared


def _wrong(attribute: str, optimizer: str, bound: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the hyperparameters of one optimizer."""
    yield from _unknown(optimizer, bound, attribute)
    declared = _declared(optimizer, attribute) if optimizer in SUBJECTS else {}
    for name, value in bound.items():
        if name not in declared:
            continue
        if attribute == AT_MOST and declared[name].domain is None:
            yield f"{optimizer}: {name} is a flag, which has no largest value: use {PINNED}"
        else:
            try:
                declared[name].checked(optimizer, value)
            except HyperparameterError as error:
                yield str(error)
