"""Families of the books: each choice is what its text says, worked out beside it for one step of one number."""

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
ADAM = ({"beta1": B1, "beta2": B2, "eps": EPS, "weight_decay": WD}, {"exp_avg": 0.2, "exp_avg_sq": 0.25})
AMSGRAD = ({**ADAM[0], "amsgrad": True}, {**ADAM[1], "max_exp_avg_sq": 1.0})
ADAMW_STEP = LR * m(G) / C1 / (math.sqrt(v(G) / C2) + EPS)
NADAM = ({**ADAM[0], "momentum_decay": 1.0}, {**ADAM[1], "mu_product": 0.1})
MAX = (ADAM[0], {"exp_avg": 0.2, "exp_inf": 0.1})
BUFFER = 0.7 * 0.4 + (1 - 0.25) * G
SGD = ({"momentum": 0.7, "dampening": 0.25, "weight_decay": WD}, {"momentum_buffer": 0.4})
UNDECAYED_SGD = ({"momentum": 0.7, "dampening": 0.25}, SGD[1])
CROSSED = ({"step_size_min": 0.3, "step_size_max": 0.1}, {"prev": 0.0, "step_size": 0.2})
RMS = (
    {"alpha": B2, "eps": EPS, "momentum": 0.7, "weight_decay": 0.0},
    {"square_avg": 0.25, "grad_avg": 0.2, "momentum_buffer": 0.4},
)
SUM = ({"lr_decay": 0.5, "eps": EPS, "weight_decay": 0.0}, {"sum": 0.25})
MEAN_SQUARE, STEPPED = B1 * 0.25 + (1 - B1) * D**2, math.sqrt(0.04 + EPS) * D
DELTA = STEPPED / math.sqrt(MEAN_SQUARE + EPS)
AVERAGES = ({"rho": B1, "eps": EPS, "weight_decay": WD}, {"square_avg": 0.25, "acc_delta": 0.04})
MASKED = ({"beta1": B1, "beta2": B2, "eps": EPS}, ADAM[1])
FACTOR = ({"beta2_decay": -0.5, "eps1": EPS, "eps2": 0.1, "d": 1.25, "weight_decay": WD}, {"variance": 0.25})
LION = ({"beta1": B1, "beta2": 0.2, "weight_decay": WD}, {"m": 0.2})  # the sign of b1*m + (1-b1)*g is that of 0.05
ADAN = (
    {"beta1": 0.3, "beta2": 0.4, "beta3": 0.2, "epsilon": EPS, "weight_decay": WD},
    {"m": 0.2, "v": 0.1, "n": 0.25, "previous": 0.5, "begun": 1.0},
)
ADAN_STEP = (0.7 * 0.2 + 0.3 * G) / (1 - 0.7**3) + 0.6 * (0.6 * 0.1 + 0.4 * (G - 0.5)) / (1 - 0.6**3)
ADAN_ROOT = math.sqrt((0.8 * 0.25 + 0.2 * (G + 0.6 * (G - 0.5)) ** 2) / (1 - 0.8**3))
RECTIFIED = ({"beta1": B1, "beta2": B2}, {"m": 0.2, "v": 0.25})
LOCAL = ({"momentum": 0.7, "weight_decay": WD, "eta": 0.5}, {"v": 0.4})
RATIO = 0.5 * W / (-G + WD * W)
LAYER = ({"beta1": B1, "beta2": B2, "epsilon": EPS, "weight_decay": WD}, {"m": 0.2})


def nadam(mu: float, ahead: float, product: float, eps: float) -> float:
    look = ahead * m(D) / (1 - product * ahead) + (1 - mu) * D / (1 - product)
    return W - LR * look / (math.sqrt(v(D) / C2) + eps)


def mu(t: int) -> float:
    return B1 * (1 - 0.5 * 0.96**t)


def rectified(t: int, g: float, root: float) -> float:
    inf = 2 / (1 - B2) - 1
    rho = inf - 2 * t * B2**t / (1 - B2**t)
    r = math.sqrt((rho - 4) * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
    return W - LR * m(g) / (1 - B1**t) * r * root


def factored(t: int, scale: float, added: float, least: float, kept: float = KEPT) -> float:
    """A step of Adafactor; no update here is so large that it is clipped."""
    weight = t**-0.5
    variance = (1 - weight) * 0.25 + weight * (G**2 + added)
    return kept - scale * G / max(math.sqrt(variance), least)


CHOICES: list[tuple[str, dict[str, str], tuple[dict[str, Any], dict[str, float]], int, float]] = [
    (
        "torch.adam",
        {"epsilon_placement": "uncorrected"},
        ADAM,
        3,
        W - LR * math.sqrt(C2) / C1 * m(D) / (math.sqrt(v(D)) + EPS),
    ),
    ("torch.adam", {"epsilon_placement": "inside"}, ADAM, 3, W - LR * m(D) / C1 / math.sqrt(v(D) / C2 + EPS)),
    ("torch.adam", {"bias_correction": "none"}, ADAM, 3, W - LR * m(D) / (math.sqrt(v(D)) + EPS)),
    ("torch.adam", {"amsgrad_order": "after_correction"}, AMSGRAD, 3, W - LR * m(D) / C1 / (1.0 + EPS)),
    (
        "torch.adamw",
        {"epsilon_placement": "uncorrected"},
        ADAM,
        3,
        KEPT - LR * math.sqrt(C2) / C1 * m(G) / (math.sqrt(v(G)) + EPS),
    ),
    ("torch.adamw", {"epsilon_placement": "inside"}, ADAM, 3, KEPT - LR * m(G) / C1 / math.sqrt(v(G) / C2 + EPS)),
    ("torch.adamw", {"bias_correction": "none"}, ADAM, 3, KEPT - LR * m(G) / (math.sqrt(v(G)) + EPS)),
    ("torch.adamw", {"amsgrad_order": "after_correction"}, AMSGRAD, 3, KEPT - LR * m(G) / C1 / (1.0 + EPS)),
    ("torch.adamw", {"decay": "without_lr"}, ADAM, 3, W - WD * W - ADAMW_STEP),
    ("torch.adamw", {"decay": "after_step"}, ADAM, 3, (W - ADAMW_STEP) * (1 - LR * WD)),
    ("torch.adamw", {"decay": "by_step_size"}, ADAM, 3, W * (1 - LR * math.sqrt(C2) / C1 * WD) - ADAMW_STEP),
    ("torch.adamw", {"decay": "coupled"}, ADAM, 3, W - LR * m(D) / C1 / (math.sqrt(v(D) / C2) + EPS)),
    ("torch.nadam", {"epsilon_placement": "uncorrected"}, NADAM, 3, nadam(mu(3), mu(4), 0.1 * mu(3), EPS / C2**0.5)),
    ("torch.nadam", {"schedule": "none"}, NADAM, 3, nadam(B1, B1, 0.1 * B1, EPS)),
    (
        "torch.radam",
        {"threshold": "4"},
        ADAM,
        5,
        rectified(5, D, math.sqrt(corrections(5)[1]) / (math.sqrt(v(D)) + EPS)),
    ),
    ("torch.radam", {"below": "nothing"}, ADAM, 5, W),
    *(
        ("torch.rprop", {"limited": "every"}, ({"step_size_min": 0.1, "step_size_max": 0.3}, kept), 2, W + size)
        for kept, size in (
            ({"prev": 0.0, "step_size": 0.4}, 0.3),
            ({"prev": 0.0, "step_size": 0.04}, 0.1),
            ({"prev": G, "step_size": 0.05}, 0.1),  # times 1.2 it is still too small
            ({"prev": G, "step_size": 0.2}, 0.24),
        )
    ),
    ("torch.rprop", {"limited": "every", "crossed": "smallest"}, CROSSED, 2, W + 0.3),
    ("torch.rprop", {"limited": "both_ways"}, ({"step_size_min": 0.1}, {"prev": G, "step_size": 0.05}), 2, W + 0.1),
    ("torch.rprop", {"limited": "both_ways"}, ({"step_size_min": 0.1}, {"prev": 0.0, "step_size": 0.05}), 2, W + 0.05),
    ("torch.rprop", {"limited": "both_ways"}, ({"step_size_max": 0.1}, {"prev": -G, "step_size": 0.8}), 2, W),
    *(
        ("torch.rprop", {"applied": "late"}, ({}, {"prev": prev, "step_size": 0.05}), 2, W - step)
        for prev, step in ((0.0, 0.0), (G, -0.05), (-G, 0.0))
    ),
    (
        "torch.radam",
        {"epsilon_placement": "corrected"},
        ADAM,
        6,
        rectified(6, D, 1 / (math.sqrt(v(D) / corrections(6)[1]) + EPS)),
    ),
    ("torch.sgd", {"first_step": "dampened"}, SGD, 1, W - LR * (1 - 0.25) * D),
    ("torch.sgd", {"learning_rate_placement": "inside"}, UNDECAYED_SGD, 3, W - (0.7 * 0.4 + LR * (1 - 0.25) * G)),
    ("torch.sgd", {"decay": "decoupled"}, SGD, 3, KEPT - LR * BUFFER),
    ("torch.sgd", {"without_momentum": "dampened"}, ({"dampening": 0.25}, SGD[1]), 3, W - LR * (1 - 0.25) * G),
    (
        "torch.rmsprop",
        {"epsilon_placement": "inside"},
        RMS,
        3,
        W - LR * (0.7 * 0.4 + G / math.sqrt(v(G) + EPS)),
    ),
    (
        "torch.rmsprop",
        {"learning_rate_placement": "inside"},
        RMS,
        3,
        W - (0.7 * 0.4 + LR * G / (math.sqrt(v(G)) + EPS)),
    ),
    ("torch.adadelta", {"learning_rate_use": "ignored"}, AVERAGES, 3, W - DELTA),
    ("torch.adadelta", {"gradient_average": "old"}, AVERAGES, 3, W - LR * STEPPED / math.sqrt(0.25 + EPS)),
    (
        "torch.adadelta",
        {"update_average": "new"},
        AVERAGES,
        3,
        W - LR * math.sqrt((B1 * 0.04 + (1 - B1) * DELTA**2 + EPS) / (MEAN_SQUARE + EPS)) * D,
    ),
    (
        "torch.sparse_adam",
        {"epsilon_placement": "uncorrected"},
        MASKED,
        3,
        W - LR * math.sqrt(C2) / C1 * m(G) / (math.sqrt(v(G)) + EPS),
    ),
    ("torch.adagrad", {"epsilon_placement": "inside"}, SUM, 3, W - LR / 2 * G / math.sqrt(0.25 + G**2 + EPS)),
    ("torch.adagrad", {"rate_count": "t"}, SUM, 3, W - LR / 2.5 * G / (math.sqrt(0.25 + G**2) + EPS)),
    ("torch.adamax", {"epsilon_placement": "decayed_norm"}, MAX, 3, W - LR * m(D) / (C1 * max(0.09 + EPS, -D))),
    ("torch.adamax", {"epsilon_placement": "denominator"}, MAX, 3, W - LR * m(D) / (C1 * (max(0.09, -D) + EPS))),
    ("torch.adafactor", {"epsilon": "squares"}, FACTOR, 4, factored(4, LR * W, EPS, 0.0)),
    ("torch.adafactor", {"rate": "given"}, FACTOR, 36, factored(36, LR * W, 0.0, EPS)),
    ("torch.adafactor", {"scaled_by": "decayed"}, FACTOR, 4, factored(4, LR * KEPT, 0.0, EPS)),
    ("torch.adafactor", {"scaled_by": "nothing"}, FACTOR, 4, factored(4, LR, 0.0, EPS)),
    ("torch.adafactor", {"scaled_by": "eps2"}, FACTOR, 4, factored(4, LR * 0.1, 0.0, EPS)),
    ("torch.adafactor", {"decay": "scaled"}, FACTOR, 4, factored(4, LR * W, 0.0, EPS, kept=W - LR * W * WD * W)),
    ("torch.adafactor", {"decay": "without_lr"}, FACTOR, 4, factored(4, LR * W, 0.0, EPS, kept=W - WD * W)),
    ("papers.lion", {"decay": "without_lr"}, LION, 3, W - LR - WD * W),
    ("papers.lion", {"decay": "coupled"}, LION, 3, W - LR),
    ("papers.lion", {"direction": "momentum"}, LION, 3, W + LR - LR * WD * W),
    ("papers.adan", {"averages": "corrected"}, ADAN, 3, (W - LR * ADAN_STEP / (ADAN_ROOT + EPS)) / (1 + WD * LR)),
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


@pytest.mark.parametrize(
    ("name", "point", "hyper_and_slots", "t", "expected"), CHOICES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_choice_is_what_its_text_says(
    name: str, point: dict[str, str], hyper_and_slots: Any, t: int, expected: float
) -> None:
    hyper, slots = hyper_and_slots
    rule: Any = at(name, point, hyper)
    state = State(**{slot: np.array([slots.get(slot, 0.0)]) for slot in rule.slots})
    moved, _ = rule.update(np.array([W]), np.array([G]), state, LR, t)
    assert moved[0] == pytest.approx(expected, rel=1e-12)


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


def test_a_root_of_0_that_divides_is_what_its_text_says(quietly: None) -> None:
    rule: Any = at("papers.radam", {"denominator": "unguarded"}, RECTIFIED[0])
    zeros, grads = State(m=np.zeros(2), v=np.zeros(2)), np.array([0.0, G])
    moved, _ = rule.update(np.array([W, W]), grads, zeros, LR, 5)
    assert np.isnan(moved).tolist() == [True, False]
    before, _ = rule.update(np.array([W, W]), grads, zeros, LR, 1)
    assert before == pytest.approx(W - LR * grads, rel=1e-12)


def test_a_state_of_ones_is_what_its_text_says() -> None:
    rule: Any = at("torch.rmsprop", {"initial_value": "1"}, RMS[0])
    start = rule.initial_state(np.zeros(2))
    assert {name: value.tolist() for name, value in start.items()} == {
        "square_avg": [1.0, 1.0],
        "grad_avg": [0.0, 0.0],
        "momentum_buffer": [0.0, 0.0],
    }
