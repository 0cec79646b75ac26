"""What declared variants compute, against figures worked by hand: no verdict tells a variant from its own slip."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.families.family import FAMILIES, WITH_ARITHMETIC
from optimetry.conformance.naming.known.points import at
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.rule import Rule, State
from tests.conformance.comparisons import cases_of, on_bounds


def sign(x: float) -> float:
    return math.copysign(1.0, x)


W, G, LR, T, EPS = 0.5, -0.3, 0.2, 3, 0.01  # the third step of one number

# Each choice of a family as its text says it, worked out beside it: the family, the choices, the hyperparameters, the
# slots before the step, and the parameter behind it.
MU, V = 0.7, 0.4
MOMENTUM = ({"momentum": MU}, {"velocity": V})
NESTEROV = ({"momentum": MU, "use_nesterov": True}, {"velocity": V})
RMS, MEAN = 0.9 * 0.25 + 0.1 * G**2, 0.9 * 0.2 + 0.1 * G
PLAIN_RMS = ({"rho": 0.9, "epsilon": EPS, "momentum": MU}, {"mean_square": 0.25, "mean_grad": 0.2, "velocity": V})
CENTERED = ({**PLAIN_RMS[0], "centered": True}, PLAIN_RMS[1])
PUSH = G / math.sqrt(RMS + EPS)
FTRL = ({"l1": 0.1, "l2": 0.3, "lr_power": -0.5}, {"squared_accum": 0.25, "linear_accum": 0.9})
RATES = math.sqrt(0.25 + G**2), 0.5
LINEAR = 0.9 + G - (RATES[0] - RATES[1]) / LR * W
ADA = ({"epsilon": EPS}, {"moment": 0.25})
DELTA = ({"rho": 0.9, "epsilon": EPS}, {"avg_squared_grad": 0.25, "avg_squared_update": 0.04})
STEP = math.sqrt((0.04 + EPS) / (RMS + EPS)) * G
MAX = ({"beta1": 0.7, "beta2": 0.9, "epsilon": EPS}, {"moment": 0.2, "inf_norm": 0.33})
RATE = LR / (1 - 0.7**T) * (0.7 * 0.2 + 0.3 * G)
LAMB = ({"beta1": 0.7, "beta2": 0.9, "epsilon": EPS, "lamb_weight_decay": 0.3}, {"moment1": 0.2, "moment2": 0.25})
TRUST = (0.7 * 0.2 + 0.3 * G) / (math.sqrt(RMS) + EPS)
BOTH = ((0.7 * 0.2 + 0.3 * G) / (1 - 0.7**T)) / (math.sqrt(RMS / (1 - 0.9**T)) + EPS)
LARS = ({"momentum": MU, "lars_coeff": 0.1, "lars_weight_decay": 0.3}, {"velocity": V})
DECAYED = G + 0.3 * W
ADAM = ({"beta1": 0.7, "beta2": 0.9, "epsilon": EPS}, {"moment1": 0.2, "moment2": 0.25, "moment2_max": 1.0})
C1, C2, M, ROOT = 1 - 0.7**T, 1 - 0.9**T, 0.7 * 0.2 + 0.3 * G, math.sqrt(RMS)
ADAM_STEP = LR * math.sqrt(C2) / C1 * M
CHOICES: list[tuple[str, dict[str, str], tuple[dict[str, Any], dict[str, float]], float]] = [
    ("adam", {"moment1_correction": "none"}, ADAM, W - LR * math.sqrt(C2) * M / (ROOT + EPS)),
    ("adam", {"moment2_correction": "none"}, ADAM, W - LR / C1 * M / (ROOT + EPS)),
    ("adam", {"correction_count": "t+1"}, ADAM, W - LR * math.sqrt(1 - 0.9**4) / (1 - 0.7**4) * M / (ROOT + EPS)),
    ("adam", {"correction_count": "t-1"}, ADAM, W - LR * math.sqrt(1 - 0.9**2) / (1 - 0.7**2) * M / (ROOT + EPS)),
    ("adam", {"epsilon_placement": "scaled"}, ADAM, W - ADAM_STEP / (ROOT + EPS * math.sqrt(C2))),
    ("adam", {"epsilon_placement": "inside"}, ADAM, W - ADAM_STEP / math.sqrt(RMS + EPS)),
    ("adam", {"epsilon_placement": "scaled_inside"}, ADAM, W - ADAM_STEP / math.sqrt(RMS + EPS * C2)),
    ("adam", {"moments": "old"}, ADAM, W - LR * math.sqrt(C2) / C1 * 0.2 / (math.sqrt(0.25) + EPS)),
    ("adam", {"amsgrad": "before_correction"}, ADAM, W - ADAM_STEP / (1.0 + EPS)),
    ("adam", {"amsgrad": "after_correction"}, ADAM, W - ADAM_STEP / (math.sqrt(C2) + EPS)),
    ("adam", {"decay": "with_lr"}, ADAM, W - ADAM_STEP / (ROOT + EPS) - LR * 0.01 * W),
    ("adam", {"decay": "without_lr"}, ADAM, W - ADAM_STEP / (ROOT + EPS) - 0.01 * W),
    ("momentum", {"learning_rate_placement": "inside"}, MOMENTUM, W - (MU * V + LR * G)),
    ("momentum", {"dampening": "always"}, MOMENTUM, W - LR * (MU * V + 0.3 * G)),
    ("momentum", {"dampening": "after_first_step"}, MOMENTUM, W - LR * (MU * V + 0.3 * G)),
    ("momentum", {"nesterov_sign": "minus"}, NESTEROV, W - LR * (G - MU * (MU * V + G))),
    ("momentum", {"learning_rate_placement": "inside"}, NESTEROV, W - (LR * G + MU * (MU * V + LR * G))),
    ("rmsprop", {"epsilon_placement": "outside"}, PLAIN_RMS, W - (MU * V + LR * G / (math.sqrt(RMS) + EPS))),
    ("rmsprop", {"learning_rate_placement": "outside"}, PLAIN_RMS, W - LR * (MU * V + PUSH)),
    ("rmsprop", {"momentum_kind": "of_gradients"}, PLAIN_RMS, W - (MU * V + LR * G) / math.sqrt(RMS + EPS)),
    (
        "rmsprop",
        {"momentum_kind": "of_gradients", "epsilon_placement": "outside", "learning_rate_placement": "outside"},
        CENTERED,
        W - LR * (MU * V + G) / (math.sqrt(RMS - MEAN**2) + EPS),
    ),
    ("rmsprop", {"momentum_kind": "nesterov"}, PLAIN_RMS, W - (LR * PUSH + MU * (MU * V + LR * PUSH))),
    (
        "rmsprop",
        {"learning_rate_placement": "outside", "epsilon_placement": "outside"},
        CENTERED,
        W - LR * (MU * V + G / (math.sqrt(RMS - MEAN**2) + EPS)),
    ),
    (
        "ftrl",
        {"fraction": "over_parameter"},
        FTRL,
        (0.1 * sign(x := 0.9 + G - (RATES[0] - RATES[1]) / (LR * W)) - x) / (RATES[0] / LR + 0.6),
    ),
    ("ftrl", {"l2_term": "single"}, FTRL, (0.1 * sign(LINEAR) - LINEAR) / (RATES[0] / LR + 0.3)),
    ("ftrl", {"l2_term": "l1"}, FTRL, (0.1 * sign(LINEAR) - LINEAR) / (RATES[0] / LR + 0.2)),
    ("ftrl", {"small_linear": "divided"}, FTRL, (0.1 * sign(LINEAR) - LINEAR) / (RATES[0] / LR + 0.6)),
    ("adagrad", {"epsilon_placement": "inside"}, ADA, W - LR * G / math.sqrt(0.25 + G**2 + EPS)),
    ("decayed_adagrad", {"epsilon_placement": "inside"}, ({"decay": 0.9, "epsilon": EPS}, ADA[1]), W - LR * PUSH),
    ("adadelta", {"learning_rate_use": "ignored"}, DELTA, W - STEP),
    (
        "adadelta",
        {"update_average": "new"},
        DELTA,
        W - LR * math.sqrt((0.9 * 0.04 + 0.1 * STEP**2 + EPS) / (RMS + EPS)) * G,
    ),
    ("adamax", {"epsilon_placement": "gradient"}, MAX, W - RATE / 0.31),  # |g| + eps, above 0.9 * 0.33
    ("adamax", {"epsilon_placement": "denominator"}, MAX, W - RATE / 0.31),
    ("adamax", {"epsilon_placement": "none"}, MAX, W - RATE / 0.3),
    ("lamb", {"bias_correction": "both"}, LAMB, W - LR * W / abs(BOTH + 0.3 * W) * (BOTH + 0.3 * W)),
    (
        "lamb",
        {"decay_placement": "before_ratio"},
        LAMB,
        (W - LR * 0.3 * W) - LR * (W - LR * 0.3 * W) * sign(TRUST),
    ),
    ("lamb", {"param_norm": "clamped"}, LAMB, W - LR * W * sign(TRUST + 0.3 * W)),
    ("lars_momentum", {"denominator": "norm_of_sum"}, LARS, W - (MU * V + LR * 0.1 * W / abs(DECAYED) * DECAYED)),
    (
        "lars_momentum",
        {"denominator_epsilon": "1e-8"},
        LARS,
        W - (MU * V + LR * 0.1 * W / (abs(G) + 0.3 * W + 1e-8) * DECAYED),
    ),
    (
        "lars_momentum",
        {"denominator_epsilon": "1e-5", "denominator": "norm_of_sum"},
        LARS,
        W - (MU * V + LR * 0.1 * W / (abs(DECAYED) + 1e-5) * DECAYED),
    ),
    ("lars_momentum", {"zero_decay": "plain_rate"}, LARS, W - (MU * V + LR * 0.1 * W / (0.3 + 0.3 * W) * DECAYED)),
]


@pytest.mark.parametrize(
    ("name", "point", "hyper_and_slots", "expected"), CHOICES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_choice_is_what_its_text_says(
    name: str, point: dict[str, str], hyper_and_slots: Any, expected: float
) -> None:
    hyper, slots = hyper_and_slots
    rule: Any = at(name, point, hyper)
    state = State(**{slot: np.array([slots.get(slot, 0.0)]) for slot in rule.slots})
    moved, _ = rule.update(np.array([W]), np.array([G]), state, LR, T)
    assert moved[0] == pytest.approx(expected, rel=1e-12)


def test_dampening_after_the_first_step_leaves_the_first_step_alone() -> None:
    rule: Any = at("momentum", {"dampening": "after_first_step"}, {"momentum": MU})
    moved, _ = rule.update(np.array([W]), np.array([G]), State(velocity=np.zeros(1)), LR, 1)
    assert moved[0] == pytest.approx(W - LR * G)


def test_a_decay_may_be_remembered_with_the_gradient() -> None:
    rule: Any = at("asgd", {"decay_placement": "history"}, {"batch_num": 2, "weight_decay": 0.3})
    state = State(d=np.array([0.9]), history=np.array([[0.4], [0.5]]))
    moved, after = rule.update(np.array([W]), np.array([G]), state, LR, T)
    remembered = G + 0.3 * W
    assert moved[0] == pytest.approx(W - LR * (0.9 + remembered - 0.4) / 2)
    assert after["history"].tolist() == [[pytest.approx(remembered)], [0.5]]
    assert after["d"][0] == pytest.approx(0.9 + remembered - 0.4)


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_the_trust_ratio_may_be_left_out_where_nothing_decays(decay: float) -> None:
    hyper = {"beta1": 0.5, "beta2": 0.5, "lamb_weight_decay": decay}
    param, grad = np.array([3.0, -4.0]), np.array([1.0, 2.0])
    state = State(moment1=np.zeros(2), moment2=np.zeros(2))
    documented, _ = subject_named("lamb").declaration.of(hyper).update(param, grad, state, 0.1, 1)
    variant: Any = at("lamb", {"zero_decay": "ratio_one"}, hyper)
    computed, _ = variant.update(param, grad, state, 0.1, 1)
    if decay:
        assert computed.tolist() == documented.tolist()
    else:
        assert computed.tolist() == pytest.approx(
            (param - 0.1 * 0.5 * grad / np.sqrt(0.5 * grad**2)).tolist(), rel=1e-5
        )
        assert computed.tolist() != documented.tolist()


def test_a_rate_outside_is_multiplied_first_where_there_is_no_momentum() -> None:
    """As in frameworks that skip the velocity then; the other order rounds otherwise."""
    rule: Any = at("rmsprop", {"learning_rate_placement": "outside"}, {"rho": 0.5, "epsilon": 0.0, "momentum": 0.0})
    grad, zeros = np.arange(1.0, 100.0), np.zeros(99)
    moved, _ = rule.update(zeros, grad, State(mean_square=zeros + 6, mean_grad=zeros, velocity=zeros), 0.1, 1)
    root = np.sqrt(0.5 * 6 + 0.5 * grad**2)
    assert moved.tolist() == (-(0.1 * grad / root)).tolist() != (-(0.1 * (grad / root))).tolist()


@pytest.mark.parametrize("name", WITH_ARITHMETIC)
def test_a_choice_of_arithmetic_is_as_documented_by_default(name: str) -> None:
    chosen, documented = WITH_ARITHMETIC[name], subject_named(name).declaration
    assert issubclass(chosen, documented)
    for case in cases_of(name, np.float64):
        actual, expected = (on_bounds(case, kind.of(case.hyper)) for kind in (chosen, documented))
        assert np.array_equal(actual.value, expected.value)
        assert np.array_equal(actual.bound, expected.bound)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if issubclass(family, Rule)])
def test_a_family_starts_as_its_document_does(name: str) -> None:
    param = np.ones((2, 3), np.float32)
    chosen = {
        hyperparameter.name: 0.9
        for hyperparameter in subject_named(name).hyperparameters()
        if hyperparameter.default is None
    }
    family, documented = at(name, {}, chosen), subject_named(name).declaration.of(chosen)
    assert isinstance(family, Rule)
    assert isinstance(documented, Rule)
    assert start(documented, param).items() <= start(family, param).items()


def start(rule: Rule, param: Any) -> dict[str, tuple[Any, list[Any]]]:
    return {name: (np.asarray(x).dtype, np.asarray(x).tolist()) for name, x in rule.initial_state(param).items()}


def test_a_step_that_is_not_taken_takes_up_no_nan() -> None:
    """Times 0, it would."""
    rule: Any = at("torch.radam", {"below": "nothing"}, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8})
    param = np.array([W])
    for t in (1, 2, 3):
        moved, _ = rule.update(param, np.array([np.nan]), rule.initial_state(param), 0.1, t)
        assert moved.tolist() == [W]
