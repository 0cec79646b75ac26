"""What points of families compute, against plain NumPy: no verdict tells a point from its own slip."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.known.points import Point, at


def stepped(optimizer: str, point: Point, hyper: dict[str, Any], param: Any, steps: list[tuple[Any, float]]) -> Any:
    """The parameter after each step, of a gradient and a learning rate."""
    rule: Any = at(optimizer, point, hyper)
    param, computed = np.array(param, float), []
    state = rule.initial_state(param)
    for t, (grad, rate) in enumerate(steps, start=1):
        with np.errstate(all="ignore"):
            param, state = rule.update(param, np.array(grad, float).reshape(param.shape), state, rate, t)
        computed.append(param)
    return np.array(computed)


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
    computed = stepped(optimizer, point, hyper, [1.0, 7.0], STEPS)
    assert computed == pytest.approx(np.array([first, second]), nan_ok=True, rel=1e-14)


WALK = [([5.0, 0.0], 0.5), ([0.0, 0.0], 0.25), ([1.0, 2.0], 0.5)]
"""Gradients and learning rates: a zero gradient among others."""


def guarded(x: SimpleNamespace, denominator: float, at_zero: float = 1.0) -> float:
    return x.coeff * x.w_norm / denominator if x.w_norm > 0 and x.g_norm > 0 else at_zero


def plain_vector(x: SimpleNamespace) -> tuple[Any, float]:
    return x.lr * (x.g if x.g.ndim == 1 else guarded(x, x.sum) * x.decayed), 1.0


# What the velocity takes up, and what the velocity is multiplied by.
LARS: dict[str, tuple[Point, Any]] = {
    "documented": ({}, lambda x: (x.lr * guarded(x, x.sum) * x.decayed, 1.0)),
    "guarded by |g|": (
        {"denominator": "norm_of_sum_guarded_by_gradient"},
        lambda x: (x.lr * guarded(x, x.norm_of_sum) * x.decayed, 1.0),
    ),
    "outside": ({"learning_rate_placement": "outside"}, lambda x: (guarded(x, x.sum) * x.decayed, x.lr)),
    "undecayed": (
        {"zero_norm": "plain_rate_undecayed"},
        lambda x: (x.lr * guarded(x, x.sum) * (x.decayed if x.w_norm * x.g_norm > 0 else x.g), 1.0),
    ),
    "at most 1": ({"limit": "one"}, lambda x: (x.lr * min(guarded(x, x.sum), 1.0) * x.decayed, 1.0)),
    "at most lr": (
        {"limit": "learning_rate"},
        lambda x: (min(guarded(x, x.sum, x.lr), x.lr) * x.decayed, 1.0),
    ),
    "LARC": (
        {
            "denominator_epsilon": "1e-8",
            "zero_norm": "plain_rate_undecayed",
            "learning_rate_placement": "outside",
            "limit": "learning_rate",
        },
        lambda x: (
            min(x.coeff * x.w_norm / (x.sum + 1e-8) / x.lr, 1) * x.decayed if x.w_norm * x.g_norm > 0 else x.g,
            x.lr,
        ),
    ),
    "at least lr without a norm": (
        {"zero_norm": "plain_rate_or_more"},
        lambda x: (x.lr * guarded(x, x.sum, max(1.0, x.coeff * x.w_norm / x.sum)) * x.decayed, 1.0),
    ),
    "ratio outside": (
        {"learning_rate_placement": "outside_with_ratio"},
        lambda x: (x.decayed, x.lr * guarded(x, x.sum)),
    ),
    "fastai": (
        {
            "denominator": "norm_of_sum_plus_decay",
            "denominator_epsilon": "1e-8",
            "zero_norm": "unguarded",
            "learning_rate_placement": "outside_with_ratio",
        },
        lambda x: (x.decayed, x.lr * x.coeff * x.w_norm / (x.norm_of_sum + 0.2 * x.w_norm + 1e-8)),
    ),
    "vectors": ({"vectors": "plain"}, plain_vector),
    "vectors, but no scalars": ({"vectors": "plain_but_scalars"}, plain_vector),
    "MAE": (
        {"denominator": "norm_of_sum", "learning_rate_placement": "outside", "vectors": "plain"},
        lambda x: (x.g if x.g.ndim == 1 else x.coeff * x.w_norm / x.norm_of_sum * x.decayed, x.lr),
    ),
}


@pytest.mark.parametrize("shape", [(2,), (1, 2)], ids=["vector", "matrix"])
@pytest.mark.parametrize("coeff", [0.05, 4.0])
@pytest.mark.parametrize("name", LARS)
def test_points_of_lars(name: str, coeff: float, shape: tuple[int, ...]) -> None:
    point, taken = LARS[name]
    hyper = {"momentum": 0.5, "lars_coeff": coeff, "lars_weight_decay": 0.2}
    param = np.array([3.0, 4.0]).reshape(shape)
    computed = stepped("lars_momentum", point, hyper, param, WALK)
    velocity = np.zeros(shape)
    for (grad, rate), after in zip(WALK, computed, strict=True):
        x = SimpleNamespace(w=param, g=np.array(grad).reshape(shape), lr=rate, coeff=coeff)
        x.decayed, x.w_norm, x.g_norm = x.g + 0.2 * x.w, np.linalg.norm(x.w), np.linalg.norm(x.g)
        x.sum, x.norm_of_sum = x.g_norm + 0.2 * x.w_norm, np.linalg.norm(x.decayed)
        addend, factor = taken(x)
        velocity = 0.5 * velocity + addend
        param = param - factor * velocity
        assert after == pytest.approx(param, rel=1e-13)


@pytest.mark.parametrize(("vectors", "taken"), [("plain", -1.0), ("plain_but_scalars", -4.0 * 3.0 / 1.6 * 0.4)])
def test_points_of_lars_treat_scalars_as_vectors_or_not(vectors: str, taken: float) -> None:
    """|w| is 3, |g| + wd*|w| is 1.6, and g + wd*w is -0.4."""
    hyper = {"momentum": 0.5, "lars_coeff": 4.0, "lars_weight_decay": 0.2}
    (after,) = stepped("lars_momentum", {"vectors": vectors}, hyper, np.array(3.0), [(-1.0, 0.5)])
    assert after == pytest.approx(3.0 - 0.5 * taken, rel=1e-14)


# The parameter after a step, of the direction r without decay.
LAMB: dict[str, tuple[Point, Any]] = {
    "documented": ({}, lambda x: x.w - x.lr * x.w_norm / np.linalg.norm(x.q) * x.q),
    "decay after the step": (
        {"decay_placement": "after_step"},
        lambda x: (x.w - x.lr * x.w_norm / np.linalg.norm(x.r) * x.r) * (1 - x.lr * 0.2),
    ),
    "norm without the decay": (
        {"decay_placement": "behind_norm"},
        lambda x: x.w - x.lr * x.w_norm / np.linalg.norm(x.r) * x.q,
    ),
    "ratio at most 1": (
        {"ratio": "at_most_one"},
        lambda x: x.w - x.lr * min(x.w_norm / np.linalg.norm(x.q), 1.0) * x.q,
    ),
    "ratio at most 10": (
        {"decay_placement": "before_ratio", "ratio": "at_most_ten"},
        lambda x: (w := x.w * (1 - x.lr * 0.2)) - x.lr * min(np.linalg.norm(w) / np.linalg.norm(x.r), 10.0) * x.r,
    ),
    "ratio with epsilon": (
        {"ratio": "with_epsilon"},
        lambda x: x.w - x.lr * x.w_norm / (np.linalg.norm(x.q) + 0.25) * x.q,
    ),
}


@pytest.mark.parametrize("scale", [100.0, 1.0, 0.01])
@pytest.mark.parametrize("name", LAMB)
def test_points_of_lamb(name: str, scale: float) -> None:
    point, moved = LAMB[name]
    hyper = {"beta1": 0.5, "beta2": 0.75, "epsilon": 0.25, "lamb_weight_decay": 0.2}
    param = np.array([3.0, 4.0]) * scale
    computed = stepped("lamb", point, hyper, param, WALK)
    m = v = np.zeros(2)
    for (grad, rate), after in zip(WALK, computed, strict=True):
        m, v = 0.5 * m + 0.5 * np.array(grad), 0.75 * v + 0.25 * np.square(grad)
        x = SimpleNamespace(w=param, w_norm=np.linalg.norm(param), lr=rate, r=m / (np.sqrt(v) + 0.25))
        x.q = x.r + 0.2 * x.w
        param = moved(x)
        assert after == pytest.approx(param, rel=1e-13)


@pytest.mark.parametrize(("epsilon", "ratio"), [(1.0, 2.5), (4.0, 1.0)])
def test_a_small_direction_of_lamb_is_not_scaled(epsilon: float, ratio: float) -> None:
    """|w| is 5, and |r| is 8/(3 + 1) and 8/(3 + 4), which is less than epsilon."""
    hyper = {"beta1": 0.0, "beta2": 1 - 9 / 64, "epsilon": epsilon, "lamb_weight_decay": 0.0}
    (after,) = stepped("lamb", {"zero_norm": "small_direction"}, hyper, np.array([5.0, 0.0]), [([8.0, 0.0], 0.5)])
    assert after == pytest.approx([5.0 - 0.5 * ratio * 8 / (3 + epsilon), 0.0], rel=1e-14)


def test_a_tensor_of_zeros_stays_where_lamb_guards_the_direction_alone() -> None:
    hyper = {"beta1": 0.0, "beta2": 0.5, "epsilon": 0.25, "lamb_weight_decay": 0.0}
    (after,) = stepped("lamb", {"zero_norm": "small_direction"}, hyper, np.zeros(2), [([8.0, 1.0], 0.5)])
    assert not after.any()
