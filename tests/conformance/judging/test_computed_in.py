"""Targets that compute everything in a format narrower than their parameters', and what is known of their rounding."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.counterexamples.script import run_script
from optimetry.conformance.judging.identifying.identify import identify_computed_in
from optimetry.conformance.judging.identifying.narrower import InFormat, Narrower
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.agreement import SLACK, compare
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, narrowest, rounding_inputs
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.computed_in import (
    LocalRateInFloat32,
    NarrowedRun,
    OfGradients,
    SteppedRun,
    computing_in,
)
from optimetry.conformance.selftest.faults.hooks import dialect_of
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.known_targets import judged
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule
from tests.conformance.judged import begun_by

NARROWER = [("float64", np.float32), ("float32", ml_dtypes.bfloat16)]


def narrowed(optimizer: str, dtype: Any, **other: Any) -> Instead:
    """A target that computes one rule in a narrower dtype."""
    return begun_by(computing_in(dtype, **other), optimizer)


def in_format(optimizer: str, dtype: Any) -> Explanation:
    return Explanation(documented_class(optimizer), Arithmetic(computed_in=np.dtype(dtype).name))


def cases_of(optimizer: str, dtype: str, count: int = 8) -> list[Case]:
    return list(drawn_cases(subject_named(optimizer), dtype, seed=0, count=count))


@pytest.mark.parametrize(("own", "dtype"), NARROWER)
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "adam", "ftrl", "lamb", "torch.rprop", "papers.lion"])
def test_what_is_computed_in_a_narrower_format_is_within_its_bound(optimizer: str, own: str, dtype: Any) -> None:
    explanation, target, compared = in_format(optimizer, dtype), narrowed(optimizer, dtype), 0
    for case in cases_of(optimizer, own):
        after = trajectory(target, case, Guard())
        agreement = compare(after, explanation.expected(case), case.form)
        assert agreement.share <= 1
        compared += agreement.elements - agreement.vacuous
    assert compared > 100


class Decayed(SteppedRun):
    """AdamW as published, whose decay is taken off in float64, before a step of float32."""

    def __init__(self, rule: Any, parameters: list[Array], dtype: Any) -> None:
        super().__init__(replace(rule, weight_decay=0.0), parameters, dtype)
        self.weight_decay = rule.weight_decay

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        pairs = zip(self.parameters, grads, strict=True)
        with np.errstate(all="ignore"):
            self.parameters = [p if grad is None else p - self.weight_decay * p for p, grad in pairs]
        return super().step(grads, learning_rate)


@pytest.mark.parametrize(
    ("optimizer", "stepped"),
    [(name, SteppedRun) for name in ("sgd", "adagrad", "rmsprop", "papers.adam")] + [("papers.adamw", Decayed)],
)
def test_steps_of_float32_are_within_a_bound_that_parameters_do_not_widen(optimizer: str, stepped: Any) -> None:
    explanation = Explanation(documented_class(optimizer), Arithmetic(computed_in="float32", parameters_apart=True))
    target, compared = Instead(lambda rule, parameters: stepped(rule, parameters, np.float32), optimizer), 0
    for case in cases_of(optimizer, "float64"):
        expected = explanation.expected(case)
        agreement = compare(trajectory(target, case, Guard()), expected, case.form)
        assert agreement.share <= 1
        compared += agreement.elements - agreement.vacuous
        loose = in_format(optimizer, np.float32).expected(case)
        # What is exact there is rounded in float64 here, in each step.
        own = 1e-15 * np.abs(loose.value) * np.arange(1, len(case.grads) + 1)[:, None]
        assert np.all((expected.bound <= 1.2 * loose.bound + own) | ~np.isfinite(loose.bound))
    assert compared > 100


@pytest.mark.parametrize(("own", "dtype"), NARROWER)
def test_another_formula_is_beyond_that_bound(own: str, dtype: Any) -> None:
    explanation = in_format("adam", dtype)
    target = narrowed("adam", dtype, other=lambda rule: dialect_of(rule, "scaled_epsilon"))
    cases = cases_of("adam", own)
    shares = [compare(trajectory(target, case, Guard()), explanation.expected(case), case.form).share for case in cases]
    assert max(shares) > SLACK


@pytest.mark.parametrize("norms", [False, True])
def test_norms_and_a_local_rate_in_float32_are_within_the_bound_of_that(norms: bool) -> None:
    """Another rounding of the same size, of the gradients, is not."""
    target = Instead(lambda rule, parameters: RuleRun(LocalRateInFloat32.of(rule.hyper()), parameters))
    explanation = Explanation(documented_class("lars_momentum"), Arithmetic(float32_norm=True))
    shares = []
    for case in cases_of("lars_momentum", "float64", 24):
        after = trajectory(target, case if norms else case.mapped(grad=lambda x: x * (1 + 2.0**-22)), Guard())
        agreement = compare(after, explanation.expected(case), case.form)
        assert agreement.judged > 0.9
        shares.append(agreement.share)
    assert (max(shares) <= SLACK) == norms


def test_an_input_is_exact_only_if_the_narrower_format_holds_it() -> None:
    form = rounding_inputs(FORMATS["float32"])
    numbers = np.array([0.5, 0.0, 0.1, 1e-46, 1e39, np.nan])
    with np.errstate(all="ignore"):
        bounds = Bounded.exact(numbers, form).bound
    assert bounds[:2].tolist() == [0.0, 0.0]
    assert bounds[2] == pytest.approx(abs(float(np.float32(0.1)) - 0.1), rel=1e-5)
    assert 1e-46 <= bounds[3] < 1.01e-46
    assert not np.isfinite(bounds[4:]).any()
    assert Bounded.exact(numbers[:4], FORMATS["float64"]).bound.tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        (np.array([1.0, -0.0, np.nan, np.inf]), "bfloat16"),
        (np.array([1 + 2.0**-10]), "float16"),
        (np.array([1 + 2.0**-10, 2.0**17]), "float32"),
        (np.array([1 + 2.0**-10, 0.1]), None),
        (np.array([1 + 2.0**-10], np.float32), "float16"),
        (np.array([1 + 2.0**-20], np.float32), None),
        (np.array([1.0], np.float16), None),
        (np.array([]), None),
    ],
)
def test_the_narrowest_format_that_holds_all_numbers(numbers: Array, name: str | None) -> None:
    assert narrowest(numbers) == name


@pytest.mark.parametrize(("spoiled", "name"), [(False, "documented"), (True, None)])
def test_one_number_that_the_narrower_format_does_not_hold_excludes_it(spoiled: bool, name: str | None) -> None:
    """Its bound is so wide that it would contain a target that is a little off in float64."""

    class Spoiled(NarrowedRun):
        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            return [param * (1 + spoiled * 2.0**-50) for param in super().step(grads, learning_rate)]

    def begin(rule: Any, parameters: list[Array]) -> Spoiled:
        return Spoiled(rule, parameters, np.float32)

    target, cases = Instead(begin, "adagrad"), cases_of("adagrad", "float64", 4)
    observed = Observed.of(target, "adagrad", "float64", partial(iter, cases), Guard())
    rejected = cases[0], trajectory(target, cases[0], Guard())
    explanation = identify_computed_in(observed, rejected).explanation
    assert (explanation.rule.name if explanation else None) == name


def test_all_cases_must_have_numbers_of_the_narrower_format() -> None:
    """A rule without a family has no probes, and a single case may have few numbers, which are short by chance."""
    target, cases = narrowed("papers.signum", ml_dtypes.bfloat16), cases_of("papers.signum", "float32")
    rejected = next((case, after) for case in cases if (after := trajectory(target, case, Guard())).size)
    honest = Instead(RuleRun, "papers.signum")  # type: ignore[arg-type]
    for candidate, name in ((target, "documented"), (honest, None)):
        observed = Observed.of(candidate, "papers.signum", "float32", partial(iter, cases), Guard())
        assert observed.probed.cases == []
        explanation = identify_computed_in(observed, rejected).explanation
        assert (explanation.rule.name if explanation else None) == name


def test_a_parameter_without_a_gradient_may_keep_its_digits() -> None:
    class Kept(NarrowedRun):
        def __init__(self, rule: Rule, parameters: list[Array], dtype: Any) -> None:
            super().__init__(rule, parameters, dtype)
            self.kept = parameters

        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            after = super().step(grads, learning_rate)
            self.kept = [old if g is None else new for old, new, g in zip(self.kept, after, grads, strict=True)]
            return self.kept

    target = Instead(lambda rule, parameters: Kept(rule, parameters, np.float32), "adagrad")  # type: ignore[arg-type]
    drawn = cases_of("adagrad", "float64", 40)
    missing = [case for case in drawn if any(grad is None for grads in case.grads for grad in grads)]
    observed = Observed.of(target, "adagrad", "float64", partial(iter, missing), Guard())
    rejected = missing[0], trajectory(target, missing[0], Guard())
    explanation = identify_computed_in(observed, rejected).explanation
    assert explanation == in_format("adagrad", np.float32)


class IgnoresItsMomentum(NarrowedRun):
    """Computes torch's RMSprop in float32, without a momentum; where it is spoiled, the last bits are of float64."""

    spoiled = False

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(type(rule).of({**rule.hyper(), "momentum": 0.0}), parameters, np.float32)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        return [param * (1 + self.spoiled * 2.0**-50) for param in super().step(grads, learning_rate)]


class Spoiled(IgnoresItsMomentum):
    spoiled = True


def narrower_of(begin: Any) -> Narrower | None:
    target, cases = Instead(begin, "torch.rmsprop"), cases_of("torch.rmsprop", "float64", 12)
    observed = Observed.of(target, "torch.rmsprop", "float64", partial(iter, cases), Guard())
    return Narrower.of(observed, (cases[0], observed.run(cases[0])))


def test_a_mistake_is_found_as_one_of_the_narrower_format() -> None:
    there = narrower_of(IgnoresItsMomentum)
    assert there is not None
    named = there.mistaken()
    assert named is not None
    assert str(named[0].part) == "documented with momentum = 0 whatever is given"
    assert named[0].explanation.arithmetic == Arithmetic(computed_in="float32")
    assert named[1].tried == 12


def test_what_has_more_digits_than_a_narrower_format_is_no_target_of_it() -> None:
    assert narrower_of(Spoiled) is None
    assert narrower_of(RuleRun) is None


@pytest.mark.parametrize("never", [np.nan, np.inf])
def test_a_target_without_a_finite_number_shows_no_narrower_format(never: float) -> None:
    """Every format has infinities and NaN."""

    class Never(RuleRun):
        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            return [np.full_like(param, never) for param in super().step(grads, learning_rate)]

    assert narrower_of(Never) is None


def test_what_is_explained_in_the_narrower_format_alone_is_not_explained() -> None:
    """Each case in the wider dtype is held against what was found, and must be of numbers of the narrower one."""
    there = narrower_of(IgnoresItsMomentum)
    assert there is not None
    runs = itertools.count()

    def sometimes_spoiled(rule: Any, parameters: list[Array]) -> Any:
        kind = Spoiled if parameters[0].dtype == np.float64 and next(runs) % 8 == 7 else IgnoresItsMomentum
        return kind(rule, parameters)

    observed = replace(there.observed, target=Instead(sometimes_spoiled, "torch.rmsprop"), runs={})
    assert replace(there, observed=observed).mistaken() is None


@pytest.mark.parametrize("spoiled", [False, True])
def test_a_formula_that_is_found_in_the_narrower_format_must_explain_every_case(spoiled: bool) -> None:
    runs = itertools.count()

    class Edited(NarrowedRun):
        def __init__(self, rule: Rule, parameters: list[Array]) -> None:
            super().__init__(OfGradients.of(rule.hyper()), parameters, np.float32)
            self.start, self.off = parameters, spoiled and next(runs) % 8 == 7

        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            """What has moved is known within its rounding alone."""
            after = super().step(grads, learning_rate)
            moved = [param * (1 + self.off * 2.0**-50) for param in after]
            return [np.where(a == start, a, b) for a, b, start in zip(after, moved, self.start, strict=True)]

    target, cases = Instead(Edited, "adadelta"), cases_of("adadelta", "float64", 24)  # type: ignore[arg-type]
    there = Narrower(Observed.of(target, "adadelta", "float64", partial(iter, cases), Guard()), "float32")
    explained = there.searched(0.0)
    assert (explained is None) == spoiled
    if explained:
        assert explained.formulas[0].arithmetic == Arithmetic(computed_in="float32")
        assert explained.identity.tried == 24


@pytest.mark.slow
@pytest.mark.parametrize("name", ["momentum_ignored_in_float32", "edited_in_float32", "uncorrected_in_float32"])
def test_a_counterexample_shows_more_than_the_narrower_format(name: str) -> None:
    """Rounding to float32 is far beyond the bound of float64, in every case, and would be all that it shows."""
    fault = FAULTS[name]
    shown = judged(fault, "float64").counterexample
    assert shown is not None
    case = Case.from_json(shown["case"])
    after, rounded = trajectory(fault.target(), case, Guard()), in_format(fault.optimizer, np.float32).expected(case)
    assert compare(after, rounded, case.form).share > SLACK
    assert run_script(shown["script"]) > 0


def test_a_target_of_a_narrower_format_is_fed_the_same_numbers_and_has_the_same_limits() -> None:
    wide: Any = narrowed("adagrad", np.float32)
    wide.cannot, wide.pinned = {"0-d parameters"}, {"adagrad": {"epsilon": 0.5}}
    target = InFormat(wide, "float64", Guard())
    assert limits_of(target, "adagrad") == limits_of(wide, "adagrad") != limits_of(narrowed("sgd", np.float32), "sgd")
    for case in cases_of("adagrad", "float32"):
        assert np.array_equal(
            trajectory(target, case, Guard()), trajectory(NumpyTarget(), case, Guard()), equal_nan=True
        )
    wide.dtypes = ("float32",)
    assert target.declines(case) == "instead offers float32 only"
