"""Families of torch's book: each choice is what its text says, worked out beside it for one step of one number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.known.points import at
from tests.conformance.naming.one_step import (
    B1,
    B2,
    C1,
    C2,
    EPS,
    KEPT,
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


def nadam(mu: float, ahead: float, product: float, eps: float) -> float:
    look = ahead * m(D) / (1 - product * ahead) + (1 - mu) * D / (1 - product)
    return W - LR * look / (math.sqrt(v(D) / C2) + eps)


def mu(t: int) -> float:
    return B1 * (1 - 0.5 * 0.96**t)


def factored(t: int, scale: float, added: float, least: float, kept: float = KEPT) -> float:
    """A step of Adafactor; no update here is so large that it is clipped."""
    weight = t**-0.5
    variance = (1 - weight) * 0.25 + weight * (G**2 + added)
    return kept - scale * G / max(math.sqrt(variance), least)


CHOICES: list[Choice] = [
    (
        "torch.adam",
        {"epsilon_placement": "uncorrected"},
        ADAM,
        3,
        W - LR * math.sqrt(C2) / C1 * m(D) / (math.sqrt(v(D)) + EPS),
    ),
    ("torch.adam", {"epsilon_placement": "inside"}, ADAM, 3, W - LR * m(D) / C1 / math.sqrt(v(D) / C2 + EPS)),
    ("torch.adam", {"bias_correction": "none"}, ADAM, 3, W - LR * m(D) / (math.sqrt(v(D)) + EPS)),
    ("torch.adam", {"bias_correction": "of_m"}, ADAM, 3, W - LR * m(D) / C1 / (math.sqrt(v(D)) + EPS)),
    ("torch.adam", {"bias_correction": "of_v"}, ADAM, 3, W - LR * m(D) / (math.sqrt(v(D) / C2) + EPS)),
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
    ("torch.adamw", {"bias_correction": "of_m"}, ADAM, 3, KEPT - LR * m(G) / C1 / (math.sqrt(v(G)) + EPS)),
    ("torch.adamw", {"bias_correction": "of_v"}, ADAM, 3, KEPT - LR * m(G) / (math.sqrt(v(G) / C2) + EPS)),
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
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join([choice[0], *choice[1].values()]))
def test_a_choice_is_what_its_text_says(choice: Choice) -> None:
    assert_gives(choice)


def test_a_state_of_ones_is_what_its_text_says() -> None:
    rule: Any = at("torch.rmsprop", {"initial_value": "1"}, RMS[0])
    start = rule.initial_state(np.zeros(2))
    assert {name: value.tolist() for name, value in start.items()} == {
        "square_avg": [1.0, 1.0],
        "grad_avg": [0.0, 0.0],
        "momentum_buffer": [0.0, 0.0],
    }
