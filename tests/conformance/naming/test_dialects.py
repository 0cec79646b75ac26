"""Dialects: each says what it is, is another formula than the document's and than each other, and is what it says."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.naming.families import DIALECTS, FAMILIES
from optimetry.conformance.naming.families.family import Dialect, axes, axis, declare
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.numerics.arrays import apart
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, rule_named
from optimetry.reference.rules import RULES
from optimetry.reference.training import Training
from tests.conformance.comparisons import (
    HYPERS,
    LEARNING_RATES,
    SEED,
    cases_of,
    most,
    on_bounds,
    parameters_and_gradients,
)
from tests.conformance.judged import NAMED, dialect_named, label

PAIRS = [pair for dialects in DIALECTS.values() for pair in combinations(dialects, 2)]
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def run_working(rule: Rule, dtype: Any, seed: int) -> list[Any]:
    """Every parameter, and every slot the documented rule has, after every step; the second tensor misses a step."""
    params, grads = parameters_and_gradients(seed, rule.name)
    training = Training(rule, [working(param.astype(dtype)) for param in params])
    results: list[Any] = []
    for number, (step, lr) in enumerate(zip(grads, LEARNING_RATES, strict=True)):
        converted = [working(grad.astype(dtype)) for grad in step]
        results += training.step([None if number == 1 and i == 1 else grad for i, grad in enumerate(converted)], lr)
        results += [state[slot] for state in training.states for slot in rule_named(rule.name).slots]
    return [np.array(array) for array in results]


@pytest.fixture(scope="module")
def bounded() -> Any:
    """Every case of a subject on Bounded arrays, each made once: of a dialect, or of the document for None."""
    made: dict[Any, list[Expected]] = {}

    def run(name: str, dialect: Dialect | None, dtype: Any = np.float64) -> list[Expected]:
        key = (name, dialect and dialect.name, dtype)
        if key not in made:
            made[key] = [on_bounds(x, dialect.of(x.hyper) if dialect else None) for x in cases_of(name, dtype)]
        return made[key]

    return run


def test_every_subject_but_a_few_has_dialects() -> None:
    assert set(DIALECTS) == set(HYPERS) - {"sgd"}
    assert {*RULES, *WRAPPERS} - set(DIALECTS) == {"sgd", "clip_by_value", "l1_decay"}
    assert {name for name in FAMILIES if "." not in name} == set(RULES) - {"sgd"}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_its_rule_with_axes(name: str) -> None:
    family = FAMILIES[name]
    assert issubclass(family, rule_named(name))
    assert family.name == name
    assert family.hyperparameters() == rule_named(name).hyperparameters()
    assert axes(family)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", FAMILIES)
def test_documented_point_equals_the_reference_bit_for_bit(name: str, dtype: Any) -> None:
    required = {p.name: p.corners[0] for p in rule_named(name).hyperparameters() if p.default is None}
    for hyper in (required, *HYPERS[name]):
        for seed in range(3):
            computed = run_working(FAMILIES[name].of(hyper), dtype, seed)
            expected = run_working(rule_named(name).of(hyper), dtype, seed)
            assert len(computed) == len(expected) > 0
            for ours, theirs in zip(computed, expected, strict=True):
                assert ours.dtype == theirs.dtype
                assert ours.dtype == dtype or ours.ndim == 0  # a slot that is a number, as NAdam's product of momenta
                assert ours.shape == theirs.shape
                assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_axis_value_is_used_by_a_dialect(name: str) -> None:
    declared = {(choice.name, value) for choice in axes(FAMILIES[name]).values() for value in choice.values}
    documented = {(choice.name, choice.documented) for choice in axes(FAMILIES[name]).values()}
    assert {entry for dialect in DIALECTS[name] for entry in dialect.point.items()} == declared - documented


@pytest.mark.parametrize("name", DIALECTS)
def test_names_are_unique_among_dialects_and_can_be_typed(name: str) -> None:
    names = [dialect.name for dialect in DIALECTS[name]]
    assert len(set(names)) == len(names)
    assert all(entry.isidentifier() and entry == entry.lower() for entry in names)


@pytest.mark.parametrize("dialect", NAMED, ids=label)
def test_a_dialect_says_what_it_is(dialect: Dialect) -> None:
    is_rule = isinstance(SUBJECTS[dialect.optimizer], RuleSubject)
    for text in (dialect.origin, dialect.difference, *([dialect.reference] if is_rule else [])):
        assert text.strip() == text != ""
        assert "\n" not in text
        assert "://" not in text
    hyper = HYPERS[dialect.optimizer][0]
    assert dialect.of(hyper).hyper() == SUBJECTS[dialect.optimizer].of(hyper).hyper()
    assert {name: getattr(dialect.of(hyper), name) for name in dialect.point} == dialect.point


CLOSE = {("corrected_with_epsilon", np.float32): 6}
"""Dialects that are nearer than all others to the document: 1e-6 beside 1 is 17 roundings of float32."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("dialect", NAMED, ids=label)
def test_a_dialect_differs_from_the_document_by_more_than_rounding(dialect: Dialect, dtype: Any, bounded: Any) -> None:
    name = dialect.optimizer
    distance = CLOSE.get((dialect.name, dtype), 20)  # ten times the published slack
    assert most(bounded(name, dialect, dtype), bounded(name, None, dtype)) > distance


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].optimizer}-{pair[0].name}-{pair[1].name}")
def test_no_two_dialects_are_the_same_rule(pair: tuple[Dialect, Dialect], bounded: Any) -> None:
    name = pair[0].optimizer
    assert most(bounded(name, pair[0]), bounded(name, pair[1])) > 20


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("dialect", NAMED, ids=label)
def test_a_dialect_in_working_precision_lies_within_its_bound(dialect: Dialect, dtype: Any, bounded: Any) -> None:
    judged = 0
    for case, oracle in zip(
        cases_of(dialect.optimizer, dtype), bounded(dialect.optimizer, dialect, dtype), strict=True
    ):
        ours = trajectory(computing(dialect), case, Guard())
        known = np.isfinite(oracle.bound)
        distance = np.abs(ours[known].astype(oracle.value.dtype) - oracle.value[known])
        assert np.all(distance <= oracle.bound[known])
        judged += int(np.sum(known))
    if dialect.name != "count_behind":
        assert judged > 0


# Adam's dialects as their sources print them: hats are corrected moments, tops are maxima over the steps so far.
PUBLISHED_ADAM_STEPS: dict[str, Any] = {
    "scaled_epsilon": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps),
    "epsilon_inside": lambda x: x.m * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v + x.eps) ** 0.5,
    "scaled_epsilon_inside": lambda x: x.m_hat / (x.v_hat + x.eps) ** 0.5,
    "uncorrected": lambda x: x.m / (x.v**0.5 + x.eps),
    "uncorrected_decoupled_decay": lambda x: x.m / (x.v**0.5 + x.eps) + 0.01 * x.w,
    "moment1_uncorrected": lambda x: x.m * (1 - x.b2**x.t) ** 0.5 / (x.v**0.5 + x.eps),
    "moment2_uncorrected": lambda x: x.m_hat / (x.v**0.5 + x.eps),
    "amsgrad": lambda x: x.m_hat * (1 - x.b2**x.t) ** 0.5 / (x.v_top**0.5 + x.eps),
    "uncorrected_amsgrad": lambda x: x.m / (x.v_top**0.5 + x.eps),
    "scaled_epsilon_amsgrad": lambda x: x.m_hat / ((x.v_top / (1 - x.b2**x.t)) ** 0.5 + x.eps),
    "scaled_epsilon_amsgrad_corrected": lambda x: x.m_hat / (x.v_hat_top**0.5 + x.eps),
    "scaled_epsilon_decoupled_decay": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps) + 0.01 * x.w,
    "scaled_epsilon_decay_without_lr": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps) + 0.01 * x.w / x.lr,
    "scaled_epsilon_count_ahead": lambda x: (
        x.m / (1 - x.b1 ** (x.t + 1)) / ((x.v / (1 - x.b2 ** (x.t + 1))) ** 0.5 + x.eps)
    ),
    "old_moment1": lambda x: x.m_old * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v**0.5 + x.eps),
    "old_moment2": lambda x: x.m * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v_old**0.5 + x.eps),
    "coupled_decay": lambda x: x.m * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v**0.5 + x.eps),
    "scaled_epsilon_coupled_decay": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps),
    "scaled_epsilon_amsgrad_coupled_decay": lambda x: x.m_hat / ((x.v_top / (1 - x.b2**x.t)) ** 0.5 + x.eps),
    "old_moments": lambda x: x.m_old * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v_old**0.5 + x.eps),
}


WITH_L2 = ("coupled_decay", "scaled_epsilon_coupled_decay", "scaled_epsilon_amsgrad_coupled_decay")


@pytest.mark.parametrize("name", PUBLISHED_ADAM_STEPS)
def test_a_dialect_of_adam_is_what_its_source_prints(name: str, bounded: Any) -> None:
    params, grads = parameters_and_gradients(SEED)
    (case,), (oracle,) = cases_of("adam", np.float64), bounded("adam", dialect_named("adam", name))
    x = SimpleNamespace(b1=case.hyper["beta1"], b2=case.hyper["beta2"], eps=case.hyper["epsilon"])
    assert np.all(np.isfinite(oracle.bound))
    for i, param in enumerate(params):
        x.w, x.m, x.v, x.v_top, x.v_hat_top = param, *(np.zeros_like(param),) * 4
        for step, x.lr in enumerate(LEARNING_RATES):
            x.t, g = step + 1, grads[step][i]
            g = g + 0.01 * x.w if name in WITH_L2 else g
            x.m_old, x.v_old = x.m, x.v
            x.m, x.v = x.b1 * x.m + (1 - x.b1) * g, x.b2 * x.v + (1 - x.b2) * g**2
            x.m_hat, x.v_hat = x.m / (1 - x.b1**x.t), x.v / (1 - x.b2**x.t)
            x.v_top, x.v_hat_top = np.maximum(x.v_top, x.v), np.maximum(x.v_hat_top, x.v_hat)
            x.w = x.w - x.lr * PUBLISHED_ADAM_STEPS[name](x)
            value, bound = (apart(part[step], case.parameters)[i] for part in (oracle.value, oracle.bound))
            assert np.all(np.abs(x.w.astype(value.dtype) - value) <= SLACK * bound)


def test_count_behind_divides_zero_by_zero_in_the_first_step() -> None:
    param = run_working(dialect_named("adam", "count_behind").of(HYPERS["adam"][0]), np.float64, SEED)[0]
    assert np.all(np.isnan(param))


def test_a_dialect_that_does_not_fit_its_family_is_refused() -> None:
    for point in ({}, {"epsilon_placement": "outside"}, {"epsilon_placement": "nowhere"}):
        with pytest.raises(ValueError, match="adagrad: dialect wrong"):
            Dialect(name="wrong", family=FAMILIES["adagrad"], point=point, origin="x", difference="x")
    with pytest.raises(ValueError, match="'c', must be one of: a, b"):
        axis("c", {"a": "x", "b": "x"})
    with pytest.raises(ValueError, match="'c', must be one of: a, b"):
        axis("a", {"a": "x", "b": "x"}, rare=("c",))
    with pytest.raises(ValueError, match="adagrad: dialects epsilon_inside, epsilon_inside, must differ in name"):
        declare(*(DIALECTS["adagrad"][0],) * 2)
    first = DIALECTS["adagrad"][0]
    family: Any = type("Other", (FAMILIES["adagrad"],), {})
    with pytest.raises(ValueError, match=r"adagrad: dialects epsilon_inside, other, must .* be of one family"):
        declare(first, dataclasses.replace(first, name="other", family=family))
    for others in (DIALECTS["adam"], DIALECTS["clip_by_norm"]):
        with pytest.raises(ValueError, match=r"adagrad: dialects epsilon_inside, .*, must .* be of one family"):
            declare(DIALECTS["adagrad"][0], others[-1])
