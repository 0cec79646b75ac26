"""Hyperparameters that are wrong, and states: every error names rule, argument, value and what is allowed."""

import math

import numpy as np
import pytest

from optimetry.reference.declaration import Interval
from optimetry.reference.errors import HyperparameterError, OptimetryError, UnknownOptimizerError
from optimetry.reference.rule import State
from optimetry.reference.rules import RULES, rule_named

DECLARED = [(name, hyper) for name, rule in RULES.items() for hyper in rule.hyperparameters()]
ids = [f"{name}-{hyper.name}" for name, hyper in DECLARED]


def required(name):
    return {hyper.name: hyper.corners[0] for hyper in rule_named(name).hyperparameters() if hyper.default is None}


def wrong_values(hyper):
    """Values of the wrong type, NaN, infinities, and the nearest ones outside the interval."""
    wrong = ["0.5", None, [0.5], 1 + 0j]
    if hyper.kind is bool:
        return [*wrong, 1, 0.0]
    wrong += [True, math.nan, math.inf, -math.inf, 10**400]
    if hyper.kind is int:
        wrong.append(1.5)
    low, high = hyper.domain.ends
    if math.isfinite(low):
        wrong.append(low - 1 if hyper.kind is int else math.nextafter(low, -math.inf))
        wrong += [low] if hyper.domain.text[0] == "(" else []
    if math.isfinite(high):
        wrong.append(math.nextafter(high, math.inf))
        wrong += [high] if hyper.domain.text[-1] == ")" else []
    return wrong


@pytest.mark.parametrize(("name", "hyper"), DECLARED, ids=ids)
def test_a_wrong_value_is_named_with_what_is_allowed(name, hyper):
    for value in wrong_values(hyper):
        with pytest.raises(HyperparameterError) as caught:
            rule_named(name).of(required(name) | {hyper.name: value})
        assert str(caught.value) == f"{name}: {hyper.name} = {value!r}, must be {hyper.allowed}"


@pytest.mark.parametrize(("name", "hyper"), DECLARED, ids=ids)
def test_every_corner_and_default_is_allowed(name, hyper):
    for value in (*hyper.corners, *([] if hyper.default is None else [hyper.default])):
        rule = rule_named(name).of(required(name) | {hyper.name: value})
        assert getattr(rule, hyper.name) == value
        assert type(getattr(rule, hyper.name)) is hyper.kind


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, int])
def test_numpy_numbers_become_plain_ones(kind):
    rule = rule_named("ftrl").of({"l1": kind(2)})
    assert rule.l1 == 2.0
    assert type(rule.l1) is float


def test_a_missing_value_is_named():
    with pytest.raises(HyperparameterError) as caught:
        rule_named("momentum").of({})
    assert str(caught.value) == "momentum: momentum is missing, must be in [0, 1)"


def test_an_unknown_hyperparameter_is_named():
    with pytest.raises(HyperparameterError) as caught:
        rule_named("adagrad").of({"eps": 1e-6})
    assert str(caught.value) == (
        "adagrad: unknown hyperparameter 'eps', must be among epsilon, initial_accumulator_value"
    )
    with pytest.raises(HyperparameterError, match=r"must be among \(none\)"):
        rule_named("sgd").of({"momentum": 0.9})


def test_an_unknown_rule_is_named_with_those_there_are():
    with pytest.raises(UnknownOptimizerError) as caught:
        rule_named("adamw")
    assert str(caught.value) == f"unknown optimizer 'adamw', must be one of: {', '.join(RULES)}"


def test_the_documented_value_error_is_one():
    """Page 003: ValueError if learning_rate, rho, epsilon, momentum are None."""
    assert issubclass(HyperparameterError, ValueError)
    assert issubclass(HyperparameterError, OptimetryError)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("[0, 1)", [0, 0.5, math.nextafter(1, 0)], [math.nextafter(0, -1), 1]),
        ("(0, inf)", [5e-324, 1e308], [0, -1]),
        ("(-inf, 0]", [-1e308, 0], [5e-324]),
    ],
)
def test_intervals(text, inside, outside):
    interval = Interval(text)
    assert str(interval) == text
    assert all(value in interval for value in inside)
    assert not any(value in interval for value in outside)


@pytest.mark.parametrize(
    ("text", "within", "beyond"),
    [
        ("[0, 1)", ["[0, 1)", "[0, 1]", "(-1, 2)", "[0, inf)"], ["(0, 1)", "(0, 1]", "[0, 0.5)", "[0.5, 1]"]),
        ("(0, 1]", ["(0, 1]", "[0, 1]", "(0, inf)"], ["(0, 1)", "[0, 1)"]),
        ("(0, inf)", ["(0, inf)", "[0, inf)", "(-inf, inf)"], ["(0, 1]", "(-inf, 0]"]),
    ],
)
def test_one_interval_within_another(text, within, beyond):
    assert all(Interval(text).is_within(Interval(other)) for other in within)
    assert not any(Interval(text).is_within(Interval(other)) for other in beyond)


def test_a_state_is_immutable_and_names_what_it_lacks():
    state = State(velocity=np.ones(2))
    assert dict(state) == {"velocity": state.velocity}
    assert repr(state) == "State(velocity=array([1., 1.]))"
    with pytest.raises(AttributeError, match="a State is immutable; build a new one"):
        state.velocity = np.zeros(2)
    with pytest.raises(AttributeError, match=r"no slot 'moment' among \['velocity'\]"):
        _ = state.moment


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_frozen_and_lists_its_hyperparameters(name):
    rule = rule_named(name).typical()
    assert rule.hyper() == {hyper.name: getattr(rule, hyper.name) for hyper in rule.hyperparameters()}
    for hyper in rule.hyperparameters():
        with pytest.raises(AttributeError):
            setattr(rule, hyper.name, 0)
