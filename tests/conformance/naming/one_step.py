"""Numbers of one step of one parameter, from which each choice of a family is worked out; and how it is compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.known.points import at
from optimetry.reference.rule import State

W, G, LR, EPS, WD, B1, B2 = 0.5, -0.3, 0.2, 0.01, 0.3, 0.7, 0.9
D = G + WD * W  # the gradient with an L2 penalty
KEPT = W - LR * WD * W  # the parameter without what decays


def m(g: float) -> float:
    return B1 * 0.2 + (1 - B1) * g


def v(g: float) -> float:
    return B2 * 0.25 + (1 - B2) * g**2


def corrections(t: int) -> tuple[float, float]:
    return 1 - B1**t, 1 - B2**t


C1, C2 = corrections(3)


def rectified(t: int, g: float, root: float) -> float:
    inf = 2 / (1 - B2) - 1
    rho = inf - 2 * t * B2**t / (1 - B2**t)
    r = math.sqrt((rho - 4) * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
    return W - LR * m(g) / (1 - B1**t) * r * root


Choice = tuple[str, dict[str, str], tuple[dict[str, Any], dict[str, float]], int, float]
"""A rule, the choices of its family, hyperparameters and slots, the number of the step, and the parameter after it."""


def assert_gives(choice: Choice) -> None:
    """Hold a step of a family against what was worked out."""
    name, point, (hyper, slots), t, expected = choice
    rule: Any = at(name, point, hyper)
    state = State(**{slot: np.array([slots.get(slot, 0.0)]) for slot in rule.slots})
    moved, _ = rule.update(np.array([W]), np.array([G]), state, LR, t)
    assert moved[0] == pytest.approx(expected, rel=1e-12)
