"""Checks of numbers that are no hyperparameters of a rule, with the same errors."""

from __future__ import annotations

from typing import Any

from optimetry.reference.declaration import Hyperparameter, Interval


def real(owner: str, name: str, value: Any, domain: str) -> float:
    """``value`` as a float, where it is a finite number in the domain: ``[0, inf)``.

    Raises:
        HyperparameterError: it is not.
    """
    return float(_declared(name, float, domain).checked(owner, value))


def whole(owner: str, name: str, value: Any, domain: str) -> int:
    """``value`` as an int, where it is a whole number in the domain.

    Raises:
        HyperparameterError: it is not.
    """
    return int(_declared(name, int, domain).checked(owner, value))


def _declared(name: str, kind: type, domain: str) -> Hyperparameter:
    return Hyperparameter(name=name, kind=kind, domain=Interval(domain), default=None, meaning="", corners=())
