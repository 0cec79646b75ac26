"""Families of the publications: each choice is what its text says, worked out for one step of one number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.known.points import at
from optimetry.reference.rule import State
from tests.conformance.naming.one_step import (
    B1,
    B2,
    C1,
    C2,
    EPS,
    LR,
    WD,
    Choice,
    D,
    G,
    W,
    assert_gives,
    corrections,
    m,
    rectified,
    v,
)

LION = ({"beta1": B1, "beta2": 0.2, "weight_decay": WD}, {"m": 0.2})  # the sign of b1*m + (1-b1)*g is that of 0.05
ADAN = (
    {"beta1": 0.3, "beta2": 0.4, "beta3": 0.2, "epsilon": EPS, "weight_decay": WD},
    {"m": 0.2, "v": 0.1, "n": 0.25, "previous": 0.5, "begun": 1.0},
)
ADAN_STEP = (0.7 * 0.2 + 0.3 * G) / (1 - 0.7**3) + 0.6 * (0.6 * 0.1 + 0.4 * (G - 0.5)) / (1 - 0.6**3)
ADAN_ROOT = math.sqrt((0.8 * 0.25 + 0.2 * (G + 0.6 * (G - 0.5)) ** 2) / (1 - 0.8**3))
ADOPTED = ({"beta1": B1, "beta2": B2, "epsilon": EPS}, {"m": 0.2, "v": 0.0025})  # g/sqrt(v) is -6, which is clipped
UNCLIPPED = (ADOPTED[0], {"m": 0.2, "v": 0.25})
DUAL = ({"c": 0.3, "epsilon": EPS}, {"s": 0.2, "nu": 0.25, "x0": 0.4})
PROPAGATED = ({"mu": B1, "nu": B2, "epsilon": EPS}, {"n": 0.25, "m": 0.2, "rate": 0.1})
BOUNDED = ({**ADOPTED[0], "beta3": 0.6}, {"m": 0.2, "v": 0.25, "s": 0.1})
MIXED = (
    {**ADOPTED[0], "beta3": 0.8, "alpha": 2.0, "weight_decay": WD},
    {"m1": 0.2, "m2": 0.1, "nu": 0.25},
)
RECTIFIED = ({"beta1": B1, "beta2": B2}, {"m": 0.2, "v": 0.25})
LOCAL = ({"momentum": 0.7, "weight_decay": WD, "eta": 0.5}, {"v": 0.4})
RATIO = 0.5 * W / (-G + WD * W)
LAYER = ({"beta1": B1, "beta2": B2, "epsilon": EPS, "weight_decay": WD}, {"m": 0.2})


def adopted(normalized: float) -> float:
    return W - LR * (B1 * 0.2 + (1 - B1) * normalized)


def averaged(weight: float) -> float:
    z = 0.4 - (0.2 + weight * G) / ((0.25 + weight * G**2) ** (1 / 3) + EPS)
    return 0.7 * W + 0.3 * z


def bounded(rate: float, correction: float) -> float:
    return W - min(rate, 0.6 * 0.1 + 0.4 * rate) * m(G) / correction


CHOICES: list[Choice] = [
    ("papers.lion", {"decay": "without_lr"}, LION, 3, W - LR - WD * W),
    ("papers.lion", {"decay": "coupled"}, LION, 3, W - LR),
    ("papers.lion", {"direction": "momentum"}, LION, 3, W + LR - LR * WD * W),
    ("papers.adan", {"averages": "corrected"}, ADAN, 3, (W - LR * ADAN_STEP / (ADAN_ROOT + EPS)) / (1 + WD * LR)),
    ("papers.adopt", {"clip": "none"}, ADOPTED, 3, adopted(-6.0)),
    ("papers.adopt", {"clip": "step_ahead"}, ADOPTED, 3, adopted(-(3**0.25))),
    ("papers.adopt", {"clip": "third_root"}, ADOPTED, 3, adopted(-(2**0.333))),
    ("papers.adopt", {"epsilon_placement": "added"}, UNCLIPPED, 3, adopted(G / (0.5 + EPS))),
    ("papers.madgrad", {"rate": "with_epsilon"}, DUAL, 4, averaged(2 * (LR + EPS))),
    ("papers.madgrad", {"rate": "with_epsilon_unless_zero"}, DUAL, 4, averaged(2 * (LR + EPS))),
    (
        "papers.laprop",
        {"rate_placement": "averaged"},
        PROPAGATED,
        3,
        W - LR * (0.7 * 0.2 + 0.3 * LR * G / (math.sqrt(v(G) / C2) + EPS)) / (0.7 * 0.1 + 0.3 * LR),
    ),
    ("papers.adamod", {"correction": "rate"}, BOUNDED, 3, bounded(LR / C1 / (math.sqrt(v(G) / C2) + EPS), 1.0)),
    (
        "papers.adamod",
        {"epsilon_placement": "uncorrected"},
        BOUNDED,
        3,
        bounded(LR * math.sqrt(C2) / (math.sqrt(v(G)) + EPS), C1),
    ),
    (
        "papers.ademamix",
        {"decay": "gradient"},
        MIXED,
        3,
        W - LR * (m(D) / C1 + 2 * (0.8 * 0.1 + 0.2 * D)) / (math.sqrt(v(D) / C2) + EPS),
    ),
    ("papers.novograd", {"epsilon_in": "every_step"}, LAYER, 1, W - LR * (B1 * 0.2 + G / (-G + EPS) + WD * W)),
    (
        "papers.novograd",
        {"second_moment": "begun_while_zero"},
        LAYER,
        3,
        W - LR * (B1 * 0.2 + G / (-G + EPS) + WD * W),
    ),
    ("papers.novograd", {"second_moment": "from_zero"}, LAYER, 1, W - LR * (-1 / math.sqrt(1 - B2) + WD * W)),
    ("papers.novograd", {"momentum": "average"}, LAYER, 1, W - LR * (1 - B1) * (-1.0 + WD * W)),
    ("papers.radam", {"threshold": "5"}, RECTIFIED, 5, W - LR * m(G) / corrections(5)[0]),
    (
        "papers.radam",
        {"denominator": "epsilon"},
        RECTIFIED,
        5,
        rectified(5, G, 1 / (math.sqrt(v(G) / corrections(5)[1]) + 1e-8)),
    ),
    ("papers.lars", {"rate_placement": "outside"}, LOCAL, 3, W - LR * (0.7 * 0.4 + RATIO * D)),
    ("papers.lars", {"rate_placement": "outside_with_ratio"}, LOCAL, 3, W - LR * RATIO * (0.7 * 0.4 + D)),
    ("papers.lars", {"vectors": "plain"}, LOCAL, 3, W - (0.7 * 0.4 + LR * G)),
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join([choice[0], *choice[1].values()]))
def test_a_choice_is_what_its_text_says(choice: Choice) -> None:
    assert_gives(choice)


@pytest.mark.parametrize(("w", "g", "expected"), [(0.0, G, -0.7 * 0.4 - LR * G), (0.0, 0.0, -0.7 * 0.4)])
def test_a_plain_rate_where_a_norm_is_0_is_what_its_text_says(w: float, g: float, expected: float) -> None:
    rule: Any = at("papers.lars", {"zero_norm": "plain_rate"}, LOCAL[0])
    moved, _ = rule.update(np.array([w]), np.array([g]), State(v=np.array([0.4])), LR, 3)
    assert moved[0] == pytest.approx(expected, rel=1e-12)


def test_a_plain_rate_where_the_divisor_is_0_is_what_its_text_says() -> None:
    choices = {"zero_norm": "plain_rate", "rate_placement": "outside_with_ratio"}
    rule: Any = at("papers.lars", choices, {**LOCAL[0], "weight_decay": 0.0})
    moved, _ = rule.update(np.array([W]), np.array([0.0]), State(v=np.array([0.4])), LR, 3)
    assert moved[0] == pytest.approx(W - LR * 0.7 * 0.4, rel=1e-12)


@pytest.mark.parametrize(("choice", "weight"), [("with_epsilon", 2 * EPS), ("with_epsilon_unless_zero", 0.0)])
def test_an_epsilon_in_a_rate_of_0_is_what_its_text_says(choice: str, weight: float) -> None:
    rule: Any = at("papers.madgrad", {"rate": choice}, DUAL[0])
    state = State(**{slot: np.array([value]) for slot, value in DUAL[1].items()})
    moved, _ = rule.update(np.array([W]), np.array([G]), state, 0.0, 4)
    assert moved[0] == pytest.approx(averaged(weight), rel=1e-12)


def test_a_rate_that_was_always_0_moves_nothing() -> None:
    rule: Any = at("papers.laprop", {"rate_placement": "averaged"}, PROPAGATED[0])
    moved, state = rule.update(np.array([W]), np.array([G]), rule.initial_state(np.zeros(1)), 0.0, 1)
    assert (moved[0], state.rate) == (W, 0.0)


def test_a_root_of_0_that_divides_is_what_its_text_says(quietly: None) -> None:
    rule: Any = at("papers.radam", {"denominator": "unguarded"}, RECTIFIED[0])
    zeros, grads = State(m=np.zeros(2), v=np.zeros(2)), np.array([0.0, G])
    moved, _ = rule.update(np.array([W, W]), grads, zeros, LR, 5)
    assert np.isnan(moved).tolist() == [True, False]
    before, _ = rule.update(np.array([W, W]), grads, zeros, LR, 1)
    assert before == pytest.approx(W - LR * grads, rel=1e-12)
