"""What points of families compute, against plain NumPy: no verdict tells a point from its own slip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.points import Point, at


def stepped(optimizer: str, point: Point, hyper: dict[str, Any], param: Any, steps: list[tuple[Any, float]]) -> Any:
    """The parameter after each step, of a gradient and a learning rate."""
    rule: Any = at(optimizer, point, hyper)
    param, given = np.array(param, float), []
    state = rule.initial_state(param)
    for t, (grad, rate) in enumerate(steps, start=1):
        with np.errstate(all="ignore"):
            param, state = rule.update(param, np.array(grad, float).reshape(param.shape), state, rate, t)
        given.append(param)
    return np.array(given)


STEPS = [([3.0, 0.0], 0.5), ([4.0, 2.0], 0.5)]


@pytest.mark.parametrize(
    ("optimizer", "point", "hyper", "first", "second"),
    [
        ("adagrad", {"epsilon_placement": "none"}, {"epsilon": 9.0}, [0.5, 7.0], [0.1, 6.5]),
        ("adagrad", {"epsilon_placement": "none_unguarded"}, {"epsilon": 9.0}, [0.5, np.nan], [0.1, np.nan]),
        (
            "adamax",  # m is 1.5, 2.75 and 0, 1; u is 3, 4 and 0 + 1, 2
            {"bias_correction": "none"},
            {"beta1": 0.5, "beta2": 0.0, "epsilon": 1.0},
            [0.75, 7.0],
            [0.75 - 0.5 * 2.75 / 4, 6.75],
        ),
        (
            "decayed_adagrad",  # m is 5, 10.5 and 0.5, 2.25
            {"initial_value": "1"},
            {"decay": 0.5, "epsilon": 1.0},
            [1 - 1.5 / (5**0.5 + 1), 7.0],
            [1 - 1.5 / (5**0.5 + 1) - 2 / (10.5**0.5 + 1), 6.6],
        ),
        (
            "rmsprop",
            {"initial_value": "1"},
            {"rho": 0.5, "epsilon": 1.75},
            [1 - 1.5 / 6.75**0.5, 7.0],
            [1 - 1.5 / 6.75**0.5 - 2 / 12.25**0.5, 6.5],
        ),
    ],
)
def test_elementwise_points(optimizer: str, point: Point, hyper: dict[str, Any], first: Any, second: Any) -> None:
    """From 1 with the gradients 3 and 4, and from 7 with 0 and 2, at the learning rate 0.5."""
    given = stepped(optimizer, point, hyper, [1.0, 7.0], STEPS)
    assert given == pytest.approx(np.array([first, second]), nan_ok=True, rel=1e-14)
