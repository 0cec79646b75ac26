"""States that do not belong to an optimizer, or are not whole: named, and nothing is loaded."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import ArgumentError, StateError
from tests.reference.small import parameter, snapshot


def trained(name="Adam", **arguments):
    parameters = [parameter("first"), parameter("second", np.ones((2, 2)), np.ones((2, 2)))]
    optimizer = getattr(ref, name)(
        learning_rate=arguments.pop("learning_rate", 0.1), parameters=parameters, **arguments
    )
    optimizer.step()
    return optimizer, parameters


def changed(state, key, value):
    return {**state, key: value}


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (lambda s: {k: v for k, v in s.items() if k != "first_adam_moment2"}, "lacks 'first_adam_moment2'"),
        (
            lambda s: {k: v for k, v in s.items() if not k.startswith("second")},
            "lacks 'second_adam_beta1_pow_acc' (and 4 more such keys)",
        ),
        (lambda s: changed(s, "third_adam_moment1", np.ones(2)), "has 'third_adam_moment1', which is not ours"),
        (
            lambda s: changed(s, "first_adam_moment1", np.ones(3, np.float32)),
            "'first_adam_moment1' in the state dict has shape (3,) and dtype float32, must be (2,) and float32",
        ),
        (
            lambda s: changed(s, "first_adam_moment1", np.ones(2)),
            "'first_adam_moment1' in the state dict has shape (2,) and dtype float64, must be (2,) and float32",
        ),
        (
            lambda s: changed(s, "first_adam_updates", np.array(-1)),
            "'first_adam_updates' in the state dict is -1, must be in [0, inf)",
        ),
        (
            lambda s: changed(s, "global_step", 3),
            "the state dict has 'global_step', but no scheduler here counts steps",
        ),
        (lambda s: trained("Lamb")[0].state_dict(), "lacks 'first_adam_beta1_pow_acc' (and 9 more such keys)"),
    ],
)
@pytest.mark.parametrize("method", ["set_state_dict", "set_dict"])
def test_a_foreign_or_truncated_state_is_refused_and_nothing_is_loaded(spoil, text, method):
    adam, parameters = trained()
    before = snapshot(adam, parameters)
    with pytest.raises(StateError) as caught:
        getattr(adam, method)(spoil(adam.state_dict()))
    assert text in str(caught.value)
    assert str(caught.value).startswith("adam: ")
    assert snapshot(adam, parameters) == before


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (None, "the state dict lacks 'global_step', the step of the scheduler"),
        (-1, "'global_step' = -1, must be"),
        (1.5, "1.5"),
    ],
)
def test_a_wrong_global_step_is_refused(step, text):
    adam, parameters = trained(learning_rate=ref.StepDecay(0.5, 2, begin=4))
    before = snapshot(adam, parameters)
    spoiled = {k: v for k, v in adam.state_dict().items() if k != "global_step"}
    with pytest.raises(StateError) as caught:
        adam.set_state_dict(spoiled if step is None else changed(spoiled, "global_step", step))
    assert text in str(caught.value)
    assert snapshot(adam, parameters) == before


def test_a_state_cannot_be_loaded_before_the_parameters_are_known():
    with pytest.raises(StateError, match="adam: no parameters are known yet; give `parameters` or call minimize first"):
        ref.Adam().set_state_dict(trained()[0].state_dict())


def test_a_parameter_of_a_shape_without_a_rule_is_refused():
    w = parameter("w", [1.0], [1.0])
    optimizer = ref.Optimizer(0.1, parameters=[w], rule=BOOKS["torch"]["torch.muon"]())
    with pytest.raises(ArgumentError, match=r"torch\.muon: a parameter has shape \(1,\), for which torch\.muon is not"):
        optimizer.step()
    assert w.value[0] == 1


def test_an_empty_state_is_the_one_before_the_first_step():
    adam, _ = trained()
    adam.set_state_dict({})
    assert adam.state_dict() == {}
