"""Tells whether a rule adds its decay to the gradient, and does so in its place."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.subjects.subject import DECAY_STRENGTHS
from optimetry.reference.rule import Array, Rule

STRENGTH, SHAPE, LEARNING_RATE = 0.5, (4, 3), 0.1
"""The decay, the parameter and the learning rate of the two updates that tell; a rule may ask for a matrix."""


def coupled_decay(rule: Any) -> str | None:
    """Return the hyperparameter of a rule that is the strength of a decay in the gradient; None where there is none.

    Both ways are tried on numbers: what follows from the gradient with the decay, by the rule without it, is the same.
    """
    kind: Any = type(rule)
    fields = {field.name: getattr(rule, field.name) for field in dataclasses.fields(rule)}
    real = {x.name for x in rule.hyperparameters() if x.kind is float}
    return _coupled(kind, tuple((name, x) for name, x in fields.items() if name not in real))


def strength_of(rule: Any, name: str) -> Any:
    """Return the strength of a decay, for what is added to a gradient that a rule may turn round."""
    return -getattr(rule, name) if getattr(rule, "maximize", False) else getattr(rule, name)


@cache
def _coupled(kind: Any, choices: tuple[tuple[str, Any], ...]) -> str | None:
    """Return the same for a kind of rule, with its choices and usual numbers."""
    rule: Rule = kind.typical().with_values(dict(choices))
    names = (x.name for x in rule.hyperparameters() if x.name in DECAY_STRENGTHS)
    return next((name for name in names if _is_coupled(rule.with_values({name: STRENGTH}), name)), None)


def _is_coupled(rule: Rule, name: str) -> bool:
    """Whether an update is that by a gradient with the decay, but for rounding; the state is one behind a step."""
    rng = np.random.default_rng(0)
    param, first, second = (rng.standard_normal(SHAPE) for _ in range(3))
    plain = rule.with_values({name: 0.0})
    param, state = plain.update(param, first, plain.initial_state(param), LEARNING_RATE, 1)
    decayed = second + strength_of(rule, name) * param
    (after, new), (other, state_of_other) = (
        each.update(param, grad, state, LEARNING_RATE, 2) for each, grad in ((rule, second), (plain, decayed))
    )
    pairs: list[tuple[Array, Array]] = [(after, other), *((new[slot], x) for slot, x in state_of_other.items())]
    # Two texts of one formula differ by roundings; this chooses what is tried, and decides no verdict.
    return all(np.allclose(a, b, rtol=1e-9, atol=0) for a, b in pairs)
