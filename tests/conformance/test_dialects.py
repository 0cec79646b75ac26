from itertools import combinations
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.naming.families import DIALECTS, FAMILIES
from optimetry.conformance.naming.families.family import Dialect, axes, axis, declare
from optimetry.conformance.naming.precision import RoundedHyperparameters, precision_variants, to_float32
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, scalar_format
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule
from optimetry.reference.rules import RULES
from optimetry.reference.training import Training

NAMED = [dialect for dialects in DIALECTS.values() for dialect in dialects]
PAIRS = [pair for dialects in DIALECTS.values() for pair in combinations(dialects, 2)]
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]

# Hyperparameters at which implementations that agree by default do not.
HYPERS: dict[str, list[dict[str, Any]]] = {
    "sgd": [{}],
    "momentum": [{"momentum": 0.7, "use_nesterov": nesterov} for nesterov in (False, True)],
    "lars_momentum": [{"momentum": 0.7, "lars_coeff": 0.1, "lars_weight_decay": decay} for decay in (0.0, 0.3)],
    "adagrad": [{"epsilon": 0.1, "initial_accumulator_value": value} for value in (0.0, 0.3)],
    "decayed_adagrad": [{"decay": 0.7, "epsilon": 0.1}],
    "adadelta": [{"rho": 0.7, "epsilon": 0.1}],
    "adam": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}],
    "adamax": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}],
    "rmsprop": [{"rho": 0.9, "epsilon": 0.1, "momentum": 0.7, "centered": centered} for centered in (False, True)],
    "ftrl": [{"l1": 0.0, "l2": 0.0}, {"l1": 0.1, "l2": 0.3, "lr_power": -0.3}],
    "lamb": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1, "lamb_weight_decay": decay} for decay in (0.0, 0.3)],
    "asgd": [{"batch_num": 2, "weight_decay": 0.3}],
}
LEARNING_RATES = [0.1, 0.1, 0.03, 0.03, 0.2]
SEED = 20240229


def parameters_and_gradients(seed: int) -> tuple[list[Any], list[list[Any]]]:
    """Mixed magnitudes with shrinking gradients and an element without any; a zero tensor; large; tiny gradients."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=7) * 10.0 ** rng.integers(-2, 1, 7)
    params = [mixed, np.zeros(3), 8 + rng.normal(size=(2, 2)), rng.normal(size=3) * 1e-5]
    grads = []
    for step in range(len(LEARNING_RATES)):
        shrinking = rng.normal(size=7) * 0.4**step * 10.0 ** rng.integers(-3, 1, 7)
        shrinking[-1] = 0.0
        large = np.zeros((2, 2)) if step == 0 else rng.normal(size=(2, 2))
        grads.append([shrinking, rng.normal(size=3), large, rng.normal(size=3) * 1e-6])
    return params, grads


def run_bounded(rule: Rule, dtype: Any, seed: int, learning_rates: list[float]) -> list[Bounded]:
    """Every parameter after every step."""
    form = FORMATS[np.dtype(dtype).name]
    params, grads = parameters_and_gradients(seed)
    lifted = rule.lifted(lambda _, number: Bounded.scalar(number, scalar_format(form)))
    training = Training(lifted, [Bounded.exact(param.astype(dtype), form) for param in params])
    return [
        param
        for step, lr in zip(grads, learning_rates, strict=True)
        for param in training.step(
            [Bounded.exact(grad.astype(dtype), form) for grad in step], Bounded.scalar(lr, scalar_format(form))
        )
    ]


def run_working(rule: Rule, dtype: Any, seed: int) -> list[Any]:
    """Every parameter, and every slot the documented rule has, after every step; the second tensor misses a step."""
    params, grads = parameters_and_gradients(seed)
    training = Training(rule, [working(param.astype(dtype)) for param in params])
    found: list[Any] = []
    for number, (step, lr) in enumerate(zip(grads, LEARNING_RATES, strict=True)):
        given = [working(grad.astype(dtype)) for grad in step]
        found += training.step([None if number == 1 and i == 1 else grad for i, grad in enumerate(given)], lr)
        found += [state[slot] for state in training.states for slot in RULES[rule.name].slots]
    return [np.array(array) for array in found]


@pytest.fixture(scope="module")
def bounded() -> Any:
    """Runs on Bounded arrays, each made once: of a dialect, or of the documented rule for None."""
    made: dict[Any, list[Bounded]] = {}

    def run(name: str, dialect: Dialect | None, index: int, dtype: Any = np.float64) -> list[Bounded]:
        key = (name, dialect and dialect.name, index, dtype)
        if key not in made:
            hyper = HYPERS[name][index]
            rule = dialect.of(hyper) if dialect else RULES[name].of(hyper)
            made[key] = run_bounded(rule, dtype, SEED, LEARNING_RATES)
        return made[key]

    return run


def farthest(a: list[Bounded], b: list[Bounded]) -> float:
    """The largest distance in units of the larger bound; infinite where one alone has no finite value."""
    found = 0.0
    for x, y in zip(a, b, strict=True):
        known = [np.isfinite(z.value) & np.isfinite(z.bound) for z in (x, y)]
        if np.any((known[0] & np.isnan(y.value)) | (known[1] & np.isnan(x.value))):
            return np.inf
        both = known[0] & known[1]
        apart, bound = np.abs(x.value[both] - y.value[both]), np.maximum(x.bound[both], y.bound[both])
        shares = [float(d / e) if e > 0 else np.inf for d, e in zip(apart, bound, strict=True) if d > 0]
        found = max([found, *shares])
    return found


def test_every_rule_but_sgd_has_dialects() -> None:
    assert set(DIALECTS) == set(RULES) == set(HYPERS)
    assert {name for name, dialects in DIALECTS.items() if not dialects} == {"sgd"} == set(RULES) - set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_its_rule_with_axes(name: str) -> None:
    family = FAMILIES[name]
    assert issubclass(family, RULES[name])
    assert family.name == name
    assert family.hyperparameters() == RULES[name].hyperparameters()
    assert axes(family)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", FAMILIES)
def test_documented_point_equals_the_reference_bit_for_bit(name: str, dtype: Any) -> None:
    required = {p.name: p.corners[0] for p in RULES[name].hyperparameters() if p.default is None}
    for hyper in (required, *HYPERS[name]):
        for seed in range(3):
            found = run_working(FAMILIES[name].of(hyper), dtype, seed)
            expected = run_working(RULES[name].of(hyper), dtype, seed)
            assert len(found) == len(expected) > 0
            for ours, theirs in zip(found, expected, strict=True):
                assert ours.dtype == theirs.dtype == dtype
                assert ours.shape == theirs.shape
                assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_axis_value_is_used_by_a_dialect(name: str) -> None:
    declared = {(choice.name, value) for choice in axes(FAMILIES[name]).values() for value in choice.values}
    documented = {(choice.name, choice.documented) for choice in axes(FAMILIES[name]).values()}
    assert {entry for dialect in DIALECTS[name] for entry in dialect.point.items()} == declared - documented


@pytest.mark.parametrize("name", RULES)
def test_names_are_unique_among_dialects_and_precision_variants(name: str) -> None:
    names = [dialect.name for dialect in DIALECTS[name]] + [variant.name for variant in precision_variants(name)]
    assert len(set(names)) == len(names)
    assert all(entry.isidentifier() and entry == entry.lower() for entry in names)


@pytest.mark.parametrize("dialect", NAMED, ids=lambda dialect: f"{dialect.optimizer}-{dialect.name}")
def test_a_dialect_says_what_it_is(dialect: Dialect) -> None:
    for text in (dialect.origin, dialect.reference, dialect.difference):
        assert text.strip() == text != ""
        assert "\n" not in text
        assert "://" not in text
    hyper = HYPERS[dialect.optimizer][0]
    assert dialect.of(hyper).hyper() == RULES[dialect.optimizer].of(hyper).hyper()
    assert {name: getattr(dialect.of(hyper), name) for name in dialect.point} == dialect.point


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("dialect", NAMED, ids=lambda dialect: f"{dialect.optimizer}-{dialect.name}")
def test_a_dialect_differs_from_the_reference_by_more_than_rounding(dialect: Dialect, dtype: Any, bounded: Any) -> None:
    name = dialect.optimizer
    shares = [
        farthest(bounded(name, dialect, i, dtype), bounded(name, None, i, dtype)) for i in range(len(HYPERS[name]))
    ]
    assert max(shares) > 20  # ten times the published slack


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].optimizer}-{pair[0].name}-{pair[1].name}")
def test_no_two_dialects_are_the_same_rule(pair: tuple[Dialect, Dialect], bounded: Any) -> None:
    name = pair[0].optimizer
    shares = [farthest(bounded(name, pair[0], i), bounded(name, pair[1], i)) for i in range(len(HYPERS[name]))]
    assert max(shares) > 20


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("dialect", NAMED, ids=lambda dialect: f"{dialect.optimizer}-{dialect.name}")
def test_a_dialect_in_working_precision_lies_within_its_bound(dialect: Dialect, dtype: Any, bounded: Any) -> None:
    params, grads = parameters_and_gradients(SEED)
    judged = 0
    for index, hyper in enumerate(HYPERS[dialect.optimizer]):
        training = Training(dialect.of(hyper), [working(param.astype(dtype)) for param in params])
        found = [
            param
            for step, lr in zip(grads, LEARNING_RATES, strict=True)
            for param in training.step([working(grad.astype(dtype)) for grad in step], lr)
        ]
        for ours, expected in zip(found, bounded(dialect.optimizer, dialect, index, dtype), strict=True):
            assert isinstance(expected, Bounded)
            assert ours.shape == expected.shape
            assert ours.dtype == dtype
            known = np.isfinite(expected.bound)
            apart = np.abs(np.asarray(ours)[known].astype(expected.value.dtype) - expected.value[known])
            assert np.all(apart <= expected.bound[known])
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
    "scaled_epsilon_amsgrad": lambda x: x.m_hat / ((x.v_top / (1 - x.b2**x.t)) ** 0.5 + x.eps),
    "scaled_epsilon_amsgrad_corrected": lambda x: x.m_hat / (x.v_hat_top**0.5 + x.eps),
    "scaled_epsilon_decoupled_decay": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps) + 0.01 * x.w,
    "scaled_epsilon_decay_without_lr": lambda x: x.m_hat / (x.v_hat**0.5 + x.eps) + 0.01 * x.w / x.lr,
    "scaled_epsilon_count_ahead": lambda x: (
        x.m / (1 - x.b1 ** (x.t + 1)) / ((x.v / (1 - x.b2 ** (x.t + 1))) ** 0.5 + x.eps)
    ),
    "old_moments": lambda x: x.m_old * (1 - x.b2**x.t) ** 0.5 / (1 - x.b1**x.t) / (x.v_old**0.5 + x.eps),
}


@pytest.mark.parametrize("name", PUBLISHED_ADAM_STEPS)
def test_a_dialect_of_adam_is_what_its_source_prints(name: str, bounded: Any) -> None:
    (dialect,) = (dialect for dialect in DIALECTS["adam"] if dialect.name == name)
    (hyper,) = HYPERS["adam"]
    params, grads = parameters_and_gradients(SEED)
    expected = bounded("adam", dialect, 0)
    x = SimpleNamespace(b1=hyper["beta1"], b2=hyper["beta2"], eps=hyper["epsilon"])
    for i, param in enumerate(params):
        x.w, x.m, x.v, x.v_top, x.v_hat_top = param, *(np.zeros_like(param),) * 4
        for step, x.lr in enumerate(LEARNING_RATES):
            x.t, g = step + 1, grads[step][i]
            x.m_old, x.v_old = x.m, x.v
            x.m, x.v = x.b1 * x.m + (1 - x.b1) * g, x.b2 * x.v + (1 - x.b2) * g**2
            x.m_hat, x.v_hat = x.m / (1 - x.b1**x.t), x.v / (1 - x.b2**x.t)
            x.v_top, x.v_hat_top = np.maximum(x.v_top, x.v), np.maximum(x.v_hat_top, x.v_hat)
            x.w = x.w - x.lr * PUBLISHED_ADAM_STEPS[name](x)
            judge = expected[step * len(params) + i]
            assert np.all(np.isfinite(judge.bound))
            assert np.all(np.abs(x.w.astype(judge.value.dtype) - judge.value) <= 2 * judge.bound)


def test_count_behind_divides_zero_by_zero_in_the_first_step() -> None:
    (dialect,) = (dialect for dialect in DIALECTS["adam"] if dialect.name == "count_behind")
    param = run_working(dialect.rule(HYPERS["adam"][0]), np.float64, SEED)[0]
    assert np.all(np.isnan(param))


def test_a_dialect_of_an_unknown_axis_value_is_refused() -> None:
    texts = {"origin": "x", "reference": "x", "difference": "x"}
    for point in ({}, {"epsilon_placement": "outside"}, {"epsilon_placement": "nowhere"}):
        with pytest.raises(ValueError, match="adagrad: dialect wrong"):
            Dialect(name="wrong", family=FAMILIES["adagrad"], point=point, **texts)
    with pytest.raises(ValueError, match="must be one of: a, b"):
        axis("c", {"a": "x", "b": "x"})
    with pytest.raises(ValueError, match="adagrad: dialects epsilon_inside, epsilon_inside"):
        declare(FAMILIES["adagrad"], *(DIALECTS["adagrad"][0],) * 2)
    with pytest.raises(ValueError, match="must be of AdamFamily"):
        declare(FAMILIES["adam"], DIALECTS["adagrad"][0])


def test_float32_rounding_goes_past_the_domain() -> None:
    variants = {variant.name: variant for variant in precision_variants("adam")}
    rounded = variants["float32_hyperparameters"].rule({"beta2": 0.99999999})
    assert rounded.hyper() == {"beta1": to_float32(0.9), "beta2": 1.0, "epsilon": to_float32(1e-8)}
    alone = variants["float32_beta1"].rule({"beta2": 0.99999999})
    assert alone.hyper() == {"beta1": to_float32(0.9), "beta2": 0.99999999, "epsilon": 1e-8}
    assert to_float32(0.9) != 0.9
    assert to_float32(1e300) == np.inf


def test_float32_rounding_leaves_counts_and_flags_alone() -> None:
    (everything,) = (variant for variant in precision_variants("asgd") if variant.name == "float32_all")
    rounded = everything.rule({"batch_num": 3, "weight_decay": 0.1})
    assert rounded.hyper() == {"batch_num": 3, "weight_decay": to_float32(0.1)}
    assert everything.difference == "weight_decay = float32(weight_decay); lr = float32(lr)"


def test_float32_rounding_applies_to_a_dialect() -> None:
    dialect = DIALECTS["adam"][0]
    (variant,) = (variant for variant in precision_variants("adam") if variant.name == "float32_beta2")
    rounded: Any = variant.applied(dialect.rule({}))
    assert rounded.beta2 == to_float32(0.999)
    assert rounded.beta1 == 0.9
    assert rounded.epsilon_placement == "scaled"


@pytest.mark.parametrize("name", RULES)
def test_no_two_precision_variants_are_the_same_in_float64(name: str) -> None:
    documented = RoundedHyperparameters("documented", name, (), rounds_learning_rate=False, origin="the document")
    runs = {}
    for variant in (documented, *precision_variants(name)):
        rates = [to_float32(lr) if variant.rounds_learning_rate else lr for lr in LEARNING_RATES]
        runs[variant.name] = [run_bounded(variant.of(hyper), np.float64, SEED, rates) for hyper in HYPERS[name]]
    for (first, a), (second, b) in combinations(runs.items(), 2):
        shares = [farthest(x, y) for x, y in zip(a, b, strict=True)]
        assert max(shares) > 20, f"{first} and {second} agree"
