"""Chooses the hyperparameters at which a rule is certified: the documented defaults, and corners one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults
from optimetry.reference.errors import HyperparameterError

DEFAULTS = "defaults"

LARGE_RATE = 1.0
"""The learning rate at which steps show in every parameter: at most defaults, few move it in 16 bits."""


class NamedSetting(NamedTuple):
    """Hyperparameters and a learning rate, with a name for them."""

    name: str
    hyper: dict[str, Any]
    learning_rate: float


def settings_of(subject: RuleSubject, corners: bool) -> Iterator[NamedSetting]:
    """Yield the defaults and, if asked for, each corner that the rule takes, the other hyperparameters at theirs."""
    hyper, rate = documented_defaults(subject)
    yield NamedSetting(DEFAULTS, hyper, rate)
    if not corners:
        return
    yield NamedSetting(f"learning_rate = {LARGE_RATE:g}", hyper, LARGE_RATE)
    for declared in subject.hyperparameters():
        for value in dict.fromkeys(declared.corners):
            changed = {**hyper, declared.name: value}
            if changed[declared.name] != hyper[declared.name] and _taken(subject, changed):
                yield NamedSetting(f"{declared.name} = {value}", changed, rate)


def _taken(subject: RuleSubject, hyper: dict[str, Any]) -> bool:
    try:
        subject.of(hyper)
    except HyperparameterError:
        return False
    return True
