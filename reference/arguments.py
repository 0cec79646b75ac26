"""Checks of the arguments that every documented optimizer takes.

Each returns the argument, or raises an `ArgumentError` whose text says what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError
from optimetry.reference.regularizers import L2Decay, WeightDecayRegularizer


def checked_regularizer(label: str, what: str, given: Any) -> WeightDecayRegularizer | None:
    """A regularizer or None."""
    if given is None or isinstance(given, WeightDecayRegularizer):
        return given
    raise ArgumentError(f"{label}: {what} = {given!r}, must be a regularizer such as L2Decay, or None")


def checked_weight_decay(label: str, given: Any) -> WeightDecayRegularizer | None:
    """A regularizer or None; a number is the coefficient of `L2Decay`."""
    if isinstance(given, float | int) and not isinstance(given, bool):
        return L2Decay(given)
    return checked_regularizer(label, "weight_decay", given)


def checked_clip(label: str, given: Any) -> GradientClipBase | None:
    """A clip or None."""
    if given is None or isinstance(given, GradientClipBase):
        return given
    raise ArgumentError(f"{label}: grad_clip = {given!r}, must be a clip such as GradientClipByNorm, or None")


def checked_flag(label: str, what: str, given: Any) -> bool:
    """True or False."""
    if isinstance(given, bool):
        return given
    raise ArgumentError(f"{label}: {what} = {given!r}, must be True or False")


def checked_function(label: str, what: str, given: Any) -> Any:
    """A function or None."""
    if given is None or callable(given):
        return given
    raise ArgumentError(f"{label}: {what} = {given!r}, must be a function or None")


def checked_name(label: str, given: Any) -> str | None:
    """A string or None."""
    if given is None or isinstance(given, str):
        return given
    raise ArgumentError(f"{label}: name = {given!r}, must be a string or None")


def each_once(label: str, parameters: Any, what: str = "parameters") -> list[Any]:
    """Parameters, or names of some, none of them twice."""
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Iterable):
        raise ArgumentError(f"{label}: {what} = {parameters!r}, must be a list of parameters")
    listed = list(parameters)
    seen: set[str] = set()
    for parameter in listed:
        name = getattr(parameter, "name", parameter)
        if not isinstance(name, str):
            raise ArgumentError(f"{label}: {name!r} among the parameters is no parameter")
        if name in seen:
            raise ArgumentError(f"{label}: parameter {name!r} is given twice")
        seen.add(name)
    return listed


def checked_pairs(label: str, given: Any) -> list[tuple[Any, Any]]:
    """Pairs of a parameter and its gradient: a variable where the parameter is one, no parameter twice."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ArgumentError(f"{label}: params_grads = {given!r}, must be a list of pairs (parameter, its gradient)")
    pairs = list(given)
    for pair in pairs:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and hasattr(pair[0], "trainable")
        if not is_pair or hasattr(pair[0], "program") != hasattr(pair[1], "program"):
            raise ArgumentError(f"{label}: {pair!r} is no pair of a parameter and its gradient")
    each_once(label, (parameter for parameter, _ in pairs))
    if len({getattr(parameter, "program", None) for parameter, _ in pairs}) > 1:
        raise ArgumentError(f"{label}: params_grads holds parameters of several programs, must be of one")
    return [(parameter, grad) for parameter, grad in pairs]


def names_of(label: str, what: str, given: Any) -> set[str]:
    """The names of variables or parameters, or those names themselves; none for None."""
    if given is None:
        return set()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ArgumentError(f"{label}: {what} = {given!r}, must be a set or list of variables or their names")
    names: set[Any] = {getattr(each, "name", each) for each in given}
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"{label}: {name!r} in {what}, must be a variable or its name")
    return names


def one_of(label: str, **given: Any) -> Any:
    """The one value that is not None among the names of the same argument, or None."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ArgumentError(f"{label}: {' and '.join(names)} are the same argument; give one of them")
    return given[names[0]] if names else None
