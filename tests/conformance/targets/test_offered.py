"""What a library says it cannot do: cases are constructed for it, laws that need it are skipped, verdicts say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.offered import CANNOT, EMPTY, MISSING, NONFINITE, RATES_THAT_CHANGE, ZERO_D, Limits
from optimetry.conformance.cases.strategies import case_of, drawn_cases, seeded_plan
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.laws.law import LAWS, Trial
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.plugin.properties import PROFILES, hold_property
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Hyper, reason_unsupported
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import class_named, dialect_named, verdict_of

ALL = frozenset(CANNOT)
FEW = Effort("few", 30, 2)


class Narrow(NumpyTarget):
    """A library that raises where it is asked for what it says it cannot do."""

    name = "narrow"
    cannot = ALL
    pinned: Mapping[str, Mapping[str, Any]] = {"adam": {"epsilon": 1e-8, "beta1": 0.5}, "clip_by_norm": {}}
    at_most: Mapping[str, Mapping[str, Any]] = {"momentum": {"momentum": 0.5}, "clip_by_norm": {"clip_norm": 1.0}}
    refuses = ALL

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        assert ZERO_D not in self.refuses or all(param.ndim for param in parameters)
        assert EMPTY not in self.refuses or all(param.size for param in parameters)
        assert optimizer != "adam" or (hyper["epsilon"], hyper["beta1"]) == (1e-8, 0.5)
        assert optimizer != "momentum" or hyper["momentum"] <= 0.5
        run = super().start(optimizer, hyper, parameters)
        plain, rates = run.step, set()

        def step(grads: list[Array | None], learning_rate: float) -> list[Array]:
            rates.add(learning_rate)
            assert RATES_THAT_CHANGE not in self.refuses or len(rates) == 1
            assert MISSING not in self.refuses or all(grad is not None for grad in grads)
            assert NONFINITE not in self.refuses or all(np.isfinite(x).all() for x in grads if x is not None)
            return plain(grads, learning_rate)

        run.step = step  # type: ignore[method-assign]
        return run


class Silent(Narrow):
    """The same library behind an adapter that does not say so."""

    cannot = frozenset()


def bounds_of(optimizer: str) -> Limits:
    """The limits with every hyperparameter pinned to its first corner, or at most that."""
    corners = [
        (hyperparameter.name, hyperparameter.corners[0])
        for hyperparameter in subject_named(optimizer).hyperparameters()
        if hyperparameter.corners
    ]
    return Limits(ALL, tuple(corners[:1]), tuple(corners[1:2]))


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_nothing_is_lacking_in_what_is_constructed(optimizer: str) -> None:
    limits, changed = bounds_of(optimizer), 0
    for case in drawn_cases(subject_named(optimizer), "float32", seed=0, count=60):
        made_for = limits.offered(case)
        assert limits.lacking(made_for) == []
        assert (made_for is case) == (limits.lacking(case) == [])
        assert len(made_for.parameters) == len(case.parameters)
        changed += made_for is not case
        for i, param in enumerate(case.parameters):
            column = [(before[i], after[i]) for before, after in zip(case.grads, made_for.grads, strict=True)]
            if param.ndim and param.size:
                assert same_bits(made_for.parameters[i], param)
                assert all(same_bits(before, after) for before, after in column if before is not None)
            assert all(after is not None and after.shape == made_for.parameters[i].shape for _, after in column)
    assert changed > 20


def test_a_target_without_limits_is_given_the_drawn_cases_themselves() -> None:
    for case in drawn_cases(subject_named("adam"), "float32", seed=0, count=60):
        assert limits_of(NumpyTarget(), "adam").offered(case) is case


def test_a_missing_gradient_is_that_of_the_step_before_or_else_after() -> None:
    ones, twos, none = np.ones(2), np.full(2, 2.0), None
    grads = ((none, none), (ones, none), (none, none), (twos, none))
    case = Case("sgd", "float64", {}, (0.1,) * 4, (np.zeros(2), np.zeros(2)), grads)
    after = Limits(frozenset({MISSING})).offered(case)
    assert [row[0] for row in after.grads] == [ones, ones, ones, twos]  # the very arrays
    assert all(row[1] is not None and not row[1].any() for row in after.grads)


def test_what_is_offered_stays_as_it_is() -> None:
    """0-d alone is replaced; the missing gradient and the empty parameter are kept."""
    parameters = (np.array(3.0), np.zeros((2, 0)))
    case = Case("sgd", "float64", {}, (0.1,), parameters, ((None, np.zeros((2, 0))),))
    after = Limits(frozenset({ZERO_D})).offered(case)
    assert (after.parameters[0].shape, after.parameters[1].shape, after.grads[0][0]) == ((1,), (2, 0), None)
    assert Limits(frozenset({EMPTY})).offered(case).parameters[1].tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_nan_and_infinities_become_0(dtype: str) -> None:
    kind = FORMATS[dtype].dtype
    given = np.array([1.0, np.nan, -np.inf], kind)
    case = Case("sgd", dtype, {}, (0.1,), (np.ones(3, kind),), ((given,),))
    (fed,) = Limits(frozenset({NONFINITE})).offered(case).grads[0]
    assert fed is not None
    assert (fed.tolist(), fed.dtype) == ([1.0, 0.0, 0.0], kind)
    assert Limits(ALL - {NONFINITE}).offered(case) is case


@pytest.mark.parametrize("optimizer", ["adam", "lars_momentum", "momentum", "sgd"])
def test_a_library_that_says_what_it_cannot_conforms_and_the_verdict_tells(optimizer: str) -> None:
    verdict = verdict_of(Narrow(), optimizer, effort=FEW)
    assert (verdict.verdict, verdict.reason, verdict.cases) == ("conforms", "", FEW.cases)
    bounds = {"adam": ["epsilon other than 1e-08", "beta1 other than 0.5"], "momentum": ["momentum above 0.5"]}
    assert verdict.untried == [*CANNOT, *bounds.get(optimizer, [])]


def test_one_that_does_not_say_so_is_an_error() -> None:
    verdict = verdict_of(Silent(), "sgd", effort=FEW)
    assert (verdict.verdict, verdict.untried) == ("error", [])


@pytest.mark.parametrize("word", CANNOT)
def test_each_word_is_needed(word: str) -> None:
    """What one word does not say is tried."""

    class Partly(Narrow):
        cannot = ALL - {word}
        refuses = frozenset({word})

    assert verdict_of(Partly(), "sgd", effort=FEW).verdict == "error"


def test_a_wrapper_is_fed_every_gradient_anyway() -> None:
    verdict = verdict_of(Narrow(), "clip_by_norm", effort=FEW)
    assert (verdict.verdict, verdict.untried) == ("conforms", [ZERO_D, EMPTY, NONFINITE, "clip_norm above 1.0"])


def test_a_wrong_rule_behind_limits_is_still_rejected() -> None:
    class Uphill(Narrow):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)
            plain = run.step
            run.step = lambda grads, rate: plain(grads, -rate)
            return run

    verdict = verdict_of(Uphill(), "momentum", effort=FEW)
    assert (verdict.verdict, verdict.dialect) == ("dialect", "found")
    assert verdict.counterexample is not None
    assert reason_unsupported(Uphill(), Case.from_json(verdict.counterexample["case"])) is None


@pytest.mark.parametrize("law", ["missing_gradient", "splitting", "special_case", "rest"])
def test_a_law_is_tried_exactly_where_what_it_needs_is_offered(law: str) -> None:
    """The library raises, or is wrong, in the runs that the law needs and that it does not offer."""
    optimizer = "lars_momentum" if law == "rest" else "adam"

    class Wrong(NumpyTarget):
        cannot = frozenset({MISSING, EMPTY})
        pinned: Mapping[str, Mapping[str, Any]] = {"adam": {"beta2": 0.9}, "lars_momentum": {"lars_weight_decay": 0.1}}

        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)
            plain = run.step

            def step(grads: list[Array | None], rate: float) -> list[Array]:
                lacking = any(grad is None or not grad.size for grad in grads)
                off_pin = hyper.get("beta2", 0.9) != 0.9 or hyper.get("lars_weight_decay", 0.1) != 0.1
                return [array + np.float32(lacking or off_pin) for array in plain(grads, rate)]

            run.step = step  # type: ignore[method-assign]
            return run

    class SaysNothing(Wrong):
        cannot, pinned = frozenset(), {}

    case = Case(
        optimizer,
        "float32",
        {"beta1": 0.9, "beta2": 0.9, "epsilon": 1e-8}
        if optimizer == "adam"
        else {"momentum": 0.9, "lars_coeff": 0.1, "lars_weight_decay": 0.1},
        (0.1, 0.1),
        (np.ones(1, np.float32),),
        ((np.ones(1, np.float32),), (np.ones(1, np.float32),)),
    )
    assert LAWS[law].broken(Trial(Wrong(), case, Guard())) is None
    assert LAWS[law].broken(Trial(SaysNothing(), case, Guard())) is not None


def test_engines_that_offer_more_are_tried_on_more() -> None:
    class Careless(Silent):
        engine = "careless"

    first, second = judge([Narrow(), Careless()], "sgd", "float32", effort=FEW, seed=0)
    assert (first.verdict, second.verdict) == ("conforms", "error")


def test_rules_that_are_the_same_as_far_as_offered_are_named_together() -> None:
    target: Any = computing(dialect_named("rmsprop", "epsilon_and_learning_rate_outside"))
    target.pinned = {"rmsprop": {"momentum": 0.0}}
    verdict = verdict_of(target, "rmsprop", effort=FEW)
    assert (verdict.verdict, verdict.dialect) == ("dialect", "epsilon_outside")
    alike = "epsilon_and_learning_rate_outside and as velocity_of_gradients"
    assert verdict.reason.endswith(f"as far as it is offered, the same as {alike}")


def test_a_formula_that_is_declared_nowhere_is_found_behind_limits() -> None:
    """The probes are constructed as the cases are; declined ones would find nothing."""
    name = "epsilon_placement=outside, momentum_kind=nesterov"
    target: Any = computing(class_named("rmsprop", name))
    target.pinned = {"rmsprop": {"centered": True}}
    assert verdict_of(target, "rmsprop", effort=FEW).dialect == name


def test_cases_that_hypothesis_draws_are_constructed_likewise() -> None:
    hold_property([Narrow()], subject_named("adam"), "float32", PROFILES["dev"])
    with pytest.raises(Exception, match="raised AssertionError"):
        hold_property([Silent()], subject_named("sgd"), "float32", PROFILES["dev"])


def test_a_dtype_that_is_not_offered_is_unsupported() -> None:
    class Single(NumpyTarget):
        name, dtypes = "single", ("float32",)

    verdict = verdict_of(Single(), "sgd", "float64", FEW)
    assert (verdict.verdict, verdict.reason) == ("unsupported", "single offers float32 only")
    assert verdict_of(Single(), "sgd", "float32", FEW).verdict == "conforms"


@pytest.mark.parametrize(("pinned", "near"), [(1e-6, 1e-6), (0.0, None)])
def test_gradients_are_near_the_epsilon_that_a_target_can_have(pinned: float, near: float | None) -> None:
    """Where it can have none, they stay near the one that is drawn."""
    adam, limits = subject_named("adam"), Limits(pinned=(("epsilon", pinned),))
    changed = 0
    for number in range(30):
        planned = seeded_plan(adam, "float64", f"0 {number}")
        ours, plain = case_of(planned, adam, limits), case_of(planned, adam)
        for i, tensor in enumerate(planned.tensors):
            for row, other in zip(ours.grads, plain.grads, strict=True):
                grad, before = row[i], other[i]
                if grad is None or before is None:
                    assert grad is before is None
                elif tensor.pattern == "near_epsilon" and near is not None:
                    scale = planned.hyper["epsilon"] / near
                    assert np.allclose(grad * scale, before, rtol=1e-12, atol=0)
                    changed += grad.size > 0 and scale != 1
                elif tensor.pattern != "near_root_of_epsilon" or near is None:
                    assert same_bits(grad, before)
    assert (changed > 10) == (near is not None)
    assert [x.to_json() for x in drawn_cases(adam, "float64", seed=0, count=3, limits=limits)] == [
        case_of(seeded_plan(adam, "float64", f"0 {number}"), adam, limits).to_json() for number in range(3)
    ]
