"""Every rule against steps worked by hand, in every precision."""

import ml_dtypes
import numpy as np
import pytest
from numpy_quaddtype import QuadPrecDType

from optimetry.reference.books import BOOKS
from optimetry.reference.precision import working
from optimetry.reference.rule import State, rule_named
from tests.reference import worked, worked_adams, worked_matrices, worked_papers, worked_torch

RULES = [name for rules in BOOKS.values() for name in rules]
STEPS = [*worked.STEPS, *worked_adams.STEPS, *worked_papers.STEPS, *worked_torch.STEPS, *worked_matrices.STEPS]
DTYPES = [
    np.dtype(np.float16),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(np.float32),
    np.dtype(np.float64),
    QuadPrecDType(),
]


def array(numbers, dtype):
    return np.array(numbers, np.float64).astype(dtype)


def state_of(slots, dtype, kind=np.asarray):
    return State(**{slot: x if isinstance(x, float) else kind(array(x, dtype)) for slot, x in slots.items()})


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16", "float32", "float64", "quad"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.rule)
def test_a_step_is_what_the_formula_says(step, dtype):
    rule = rule_named(step.rule).of(step.hyper)
    state = state_of(step.state, dtype, working)
    with np.errstate(all="ignore"):
        new, after = rule.update(
            working(array(step.param, dtype)), working(array(step.grad, dtype)), state, step.lr, step.t
        )
    assert new.dtype == dtype
    assert np.all(np.asarray(new) == array(step.new, dtype)), new
    assert set(after) == set(step.after) == set(rule.slots)
    for slot, value in step.after.items():
        assert isinstance(value, float) or after[slot].dtype == dtype
        assert np.all(np.asarray(after[slot]) == array(value, dtype)), slot


def test_every_rule_has_a_worked_step():
    assert {step.rule for step in STEPS} == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_step_changes_nothing_that_is_given(name):
    step = next(step for step in STEPS if step.rule == name)
    param, grad = array(step.param, np.float64), array(step.grad, np.float64)
    state = state_of(step.state, np.float64)
    rule_named(name).of(step.hyper).update(param, grad, state, step.lr, step.t)
    np.testing.assert_array_equal(param, step.param)
    np.testing.assert_array_equal(grad, step.grad)
    for slot, value in step.state.items():
        np.testing.assert_array_equal(state[slot], value)


SHAPES = [(), (0,), (1,), (2, 3)]


@pytest.mark.parametrize(
    ("name", "shape"), [(n, shape) for n in RULES for shape in SHAPES if rule_named(n).takes(shape)]
)
def test_the_first_state_has_the_declared_slots_and_any_shape_steps(name, shape):
    rule = rule_named(name).typical()
    param = working(np.ones(shape, np.float32))
    state = rule.initial_state(param)
    assert tuple(state) == rule.slots
    with np.errstate(all="ignore"):  # norms of nothing are 0, which the rules guard after they have divided
        new, after = rule.update(param, working(np.ones(shape, np.float32)), state, 0.1, 1)
    assert (new.shape, new.dtype) == (shape, np.float32)
    assert [np.shape(after[slot]) for slot in rule.slots] == [np.shape(state[slot]) for slot in rule.slots]
    assert all(after[slot].dtype == np.float32 for slot in rule.slots if not isinstance(state[slot], float))


def test_adagrad_starts_where_it_is_told():
    rule = rule_named("adagrad").of({"initial_accumulator_value": 0.5})
    np.testing.assert_array_equal(rule.initial_state(np.ones(2)).moment, [0.5, 0.5])
