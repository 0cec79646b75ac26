"""Checks of the arguments that every documented optimizer takes.

Each returns the argument, or raises an `ArgumentError` whose text says what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError
from optimetry.reference.regularizers import L2Decay, WeightDecayRegularizer


def checked_regularizer(label: str, argument: str, value: Any) -> WeightDecayRegularizer | None:
    """A regularizer or None."""
    if value is None or isinstance(value, WeightDecayRegularizer):
        return value
    raise ArgumentError(f"{label}: {argument} = {value!r}, must be a regularizer such as L2Decay, or None")


def checked_weight_decay(label: str, value: Any) -> WeightDecayRegularizer | None:
    """A regularizer or None; a number is the coefficient of `L2Decay`."""
    if isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool):
        return L2Decay(float(value))
    if value is None or isinstance(value, WeightDecayRegularizer):
        return value
    raise ArgumentError(f"{label}: weight_decay = {value!r}, must be a number, a regularizer such as L2Decay, or None")


def checked_clip(label: str, value: Any) -> GradientClipBase | None:
    """A clip or None."""
    if value is None or isinstance(value, GradientClipBase):
        return value
    raise ArgumentError(f"{label}: grad_clip = {value!r}, must be a clip such as GradientClipByNorm, or None")


def checked_flag(label: str, argument: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ArgumentError(f"{label}: {argument} = {value!r}, must be True or False")


def checked_function(label: str, argument: str, value: Any) -> Any:
    """A function or None."""
    if value is None or callable(value):
        return value
    raise ArgumentError(f"{label}: {argument} = {value!r}, must be a function or None")


def checked_name(label: str, value: Any) -> str | None:
    """A string or None."""
    if value is None or isinstance(value, str):
        return value
    raise ArgumentError(f"{label}: name = {value!r}, must be a string or None")


def each_once(label: str, parameters: Any, argument: str = "parameters") -> list[Any]:
    """Parameters, or names of some, none of them twice."""
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Iterable):
        raise ArgumentError(f"{label}: {argument} = {parameters!r}, must be a list of parameters")
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


def checked_pairs(label: str, pairs: Any) -> list[tuple[Any, Any]]:
    """Pairs of a parameter and its gradient: a variable where the parameter is one, no parameter twice."""
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise ArgumentError(f"{label}: params_grads = {pairs!r}, must be a list of pairs (parameter, its gradient)")
    pairs = list(pairs)
    for pair in pairs:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and hasattr(pair[0], "trainable")
        if not is_pair or hasattr(pair[0], "program") != hasattr(pair[1], "program"):
            raise ArgumentError(f"{label}: {pair!r} is no pair of a parameter and its gradient")
    each_once(label, (parameter for parameter, _ in pairs))
    if len({getattr(parameter, "program", None) for parameter, _ in pairs}) > 1:
        raise ArgumentError(f"{label}: params_grads holds parameters of several programs, must be of one")
    return [(parameter, grad) for parameter, grad in pairs]


def names_of(label: str, argument: str, variables: Any) -> set[str]:
    """The names of variables or parameters, or those names themselves; none for None."""
    if variables is None:
        return set()
    if isinstance(variables, str | bytes) or not isinstance(variables, Iterable):
        raise ArgumentError(f"{label}: {argument} = {variables!r}, must be a set or list of variables or their names")
    names: set[Any] = {getattr(each, "name", each) for each in variables}
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"{label}: {name!r} in {argument}, must be a variable or its name")
    return names


def one_of(label: str, **values: Any) -> Any:
    """The value of an argument that has several names: that which is not None, or None."""
    names = [name for name, value in values.items() if value is not None]
    if len(names) > 1:
        raise ArgumentError(f"{label}: {' and '.join(names)} are the same argument; give one of them")
    return values[names[0]] if names else None
