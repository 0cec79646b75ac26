"""A case serialises exactly and replays from its JSON; strategies construct what the suite promises."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.cases.drawn import SHAPES
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.cases.strategies import PATTERNS, _drawn, cases, drawn_cases
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named, subject_of
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, trajectory

COMBINATIONS = [(optimizer, dtype) for optimizer in SUBJECTS for dtype in FORMATS]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.sampled_from(COMBINATIONS).flatmap(lambda pair: cases(SUBJECTS[pair[0]], pair[1])))
def test_a_case_survives_json_bit_for_bit(case: Case) -> None:
    again = Case.from_json(case.to_json())
    assert again.to_json() == case.to_json()
    assert (again.hyper, again.learning_rates) == (case.hyper, case.learning_rates)
    pairs = list(zip(again.parameters, case.parameters, strict=True))
    for row, original in zip(again.grads, case.grads, strict=True):
        pairs += [(a, b) for a, b in zip(row, original, strict=True) if a is not None and b is not None]
        assert [grad is None for grad in row] == [grad is None for grad in original]
    for a, b in pairs:
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -0.0, 5e-324])
def test_special_values_keep_their_bits(value: float) -> None:
    (case,) = drawn_cases(subject_named("sgd"), "float64", seed=0, count=1)
    case = case.replace(parameters=(np.array(value),), grads=((np.array(value),),), learning_rates=(0.1,))
    again = Case.from_json(case.to_json())
    assert again.parameters[0].tobytes() == np.array(value).tobytes()


def test_a_replayed_case_gives_the_same_trajectory() -> None:
    for case in drawn_cases(subject_named("rmsprop"), "float32", seed=1, count=5):
        a, b = (trajectory(NumpyTarget(), each, Guard()) for each in (case, Case.from_json(case.to_json())))
        assert a.tobytes() == b.tobytes()


def test_a_case_that_was_met_before_is_found_by_its_bits() -> None:
    (case,) = drawn_cases(subject_named("adam"), "float32", seed=5, count=1)
    case = met_before(case)
    again = case.replace(parameters=tuple(param.copy() for param in case.parameters))
    assert again != case
    assert met_before(again) is case
    zero = case.replace(hyper={**case.hyper, "beta1": 0.0})
    flat = case.replace(parameters=tuple(param.reshape(-1, 1) for param in case.parameters))
    negative = zero.replace(hyper={**zero.hyper, "beta1": -0.0})
    met = [met_before(x) for x in (case, zero, negative, flat, case.replace(optimizer="adamax"))]
    assert len({id(x) for x in met}) == len(met)


def test_arrays_of_a_case_are_changed_alike_or_by_kind() -> None:
    """A ufunc makes a scalar of a 0-d array, which no target must be handed."""
    case = Case(
        "sgd", "float32", {}, (0.5, 0.25), (np.float32([1, 2]), np.array(3, "f4")), ((np.float32([4, 5]), None),) * 2
    )
    assert [array.tolist() for array in case.arrays] == [[1, 2], 3, [4, 5], [4, 5]]
    negative = case.each(np.negative)
    assert [array.tolist() for array in negative.arrays] == [[-1, -2], -3, [-4, -5], [-4, -5]]
    assert all(isinstance(array, np.ndarray) for array in negative.arrays)
    assert negative.grads[1][1] is None
    assert case.mapped(grad=np.negative).parameters == case.parameters
    assert case.mapped(param=np.negative).grads == case.grads
    assert case.mapped(grad=lambda grad: None).grads == ((None, None),) * 2


def test_steps_of_a_case_are_kept_with_their_learning_rates() -> None:
    case = next(case for case in drawn_cases(subject_named("sgd"), "float32", seed=0, count=30) if len(case.grads) > 2)
    chosen = case.at_steps([2, 0, 0])
    assert chosen.grads == (case.grads[2], case.grads[0], case.grads[0])
    assert chosen.learning_rates == tuple(case.learning_rates[step] for step in (2, 0, 0))
    assert case.upto(len(case.grads)) is case
    assert case.upto(1).content == case.at_steps([0]).content


def test_the_same_seed_draws_the_same_cases_and_another_seed_others() -> None:
    def texts(seed: int, count: int) -> list[str]:
        return [case.to_json() for case in drawn_cases(subject_named("adam"), "float32", seed=seed, count=count)]

    first = texts(3, 60)
    _drawn.cache_clear()
    assert texts(3, 60) == first
    assert texts(3, 60)[:40] != texts(4, 40)
    assert len(set(texts(3, 60))) > 50


def test_the_quick_cases_hold_every_kind_of_tensor_and_gradient() -> None:
    """What the quick effort rests on: none of these may be missing from the default draw."""
    seen: Counter[str] = Counter()
    for case in drawn_cases(subject_named("adam"), "float32", seed=0, count=EFFORTS["quick"].cases):
        seen.update(str(param.shape) for param in case.parameters)
        seen["missing gradient"] += any(grad is None for row in case.grads for grad in row)
        seen["rate changes"] += len(set(case.learning_rates)) > 1
        seen["100 steps"] += len(case.grads) == 100
        seen["one step"] += len(case.grads) == 1
        seen["large epsilon"] += case.hyper["epsilon"] >= 1e-2
        gradients = [grad for row in case.grads for grad in row if grad is not None and grad.size > 2]
        seen["untouched element"] += any(grad.flat[0] == 0 and grad.flat[1] != 0 for grad in gradients)
        seen["zero gradient"] += any(not grad.any() for grad in gradients)
        smallest = float(np.finfo(np.float32).smallest_normal)
        seen["subnormal"] += any(0 < np.abs(grad[grad != 0]).min(initial=1) < smallest for grad in gradients)
        seen["zero parameter"] += any(param.size > 0 and not param.any() for param in case.parameters)
    kinds = ["missing gradient", "rate changes", "100 steps", "one step", "large epsilon", "untouched element"]
    kinds += ["zero gradient", "subnormal", "zero parameter", *map(str, SHAPES)]
    assert {kind for kind in kinds if not seen[kind]} == set()


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_pattern_stays_finite_with_room_for_squares(dtype: str) -> None:
    form = FORMATS[dtype]
    for case in drawn_cases(subject_named("adagrad"), dtype, seed=5, count=100):
        gradients = [grad for row in case.grads for grad in row if grad is not None]
        largest = max((float(np.abs(grad.astype(np.float64)).max(initial=0)) for grad in gradients), default=0.0)
        assert largest**2 * len(case.grads) < form.largest
    assert len(PATTERNS) >= 8


@pytest.mark.parametrize(("optimizer", "dtype"), COMBINATIONS)
def test_every_drawn_hyperparameter_is_in_its_domain(optimizer: str, dtype: str) -> None:
    for case in drawn_cases(subject_named(optimizer), dtype, seed=2, count=25):
        assert subject_of(case).of(case.hyper).hyper() == case.hyper  # `of` raises outside a domain
