"""What users ran into in states, eager calls and small print: each failed, silently or with a raw error."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry import fluid
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, count_sent
from optimetry.reference.distributed.training import DGCTraining
from optimetry.reference.errors import ArgumentError, OptimetryError, StateError
from optimetry.reference.programs import layers
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import Embedding
from optimetry.reference.programs.program import default_main_program
from tests.reference.first_step import values
from tests.reference.small import FEED, fresh, network, parameter, small_program, started

# state


@pytest.mark.parametrize("name", ["Adam", "Lamb", "Adamax"])
def test_a_state_holds_the_documented_powers(name):
    w = parameter()
    optimizer = getattr(ref, name)(0.1, parameters=[w])
    optimizer.step()
    optimizer.step()
    state, rule = optimizer.state_dict(), name.lower()
    np.testing.assert_array_equal(state[f"w_{rule}_beta1_pow_acc"], [0.9**3], strict=True)
    spoiled = state | {f"w_{rule}_beta1_pow_acc": np.array([0.5])}
    with pytest.raises(StateError, match=r"beta1_pow_acc.* must be .* the optimizer's own"):
        optimizer.set_state_dict(spoiled)
    optimizer.set_state_dict(state)


@pytest.mark.parametrize("junk", [None, 3, [], "state"])
def test_what_is_no_state_dict_does_not_reset(junk):
    w = parameter()
    adam = ref.Adam(0.1, parameters=[w])
    adam.step()
    with pytest.raises(StateError, match="state_dict = "):
        adam.set_state_dict(junk)
    assert adam.state_dict()["w_adam_updates"] == 1


def test_another_executor_has_a_state_of_its_own():
    loss = network()
    adam = ref.Adam(0.5)
    adam.minimize(loss)
    average = ref.ExponentialMovingAverage(0.5)
    average.update()
    first = started()
    first.run(feed=FEED)
    kept = dict(first.scope.values)
    second = started()
    assert adam.state_dict() == {}
    assert all(first.scope.values[name] is value for name, value in kept.items())
    first.run(feed=FEED)
    assert adam.state_dict()["a.w_0_adam_updates"] == 2
    second.run(feed=FEED)
    assert adam.state_dict()["a.w_0_adam_updates"] == 1
    with average.apply(first), average.apply(second):
        assert np.any(first.scope.get("a.w_0") != second.scope.get("a.w_0"))


def test_executors_of_fluid_share_their_scope():
    main, startup, loss = small_program()
    with fluid.program_guard(main, startup):
        adam = fluid.optimizer.Adam(0.5)
        adam.minimize(loss)
    fluid.Executor(fluid.CPUPlace()).run(startup)
    for count in (1, 2):
        fluid.Executor(fluid.CPUPlace()).run(main, FEED)
        assert [value for key, value in adam.state_dict().items() if key.endswith("_updates")] == [count, count]
    with fluid.scope_guard(fluid.Scope()), pytest.raises(OptimetryError, match="run the startup program"):
        fluid.Executor(fluid.CPUPlace()).run(main, FEED)


def test_the_state_of_a_program_is_in_variables_that_can_be_fetched():
    loss = network()
    _, pairs = ref.Momentum(0.5, 0.9).minimize(loss)
    executor = started()
    grad, velocity = executor.run(feed=FEED, fetch_list=[pairs[0][1], "a.w_0_momentum_velocity_0"])
    np.testing.assert_array_equal(velocity, grad)


def test_a_loaded_step_is_the_one_whose_rate_is_shown():
    """The mutant that keeps the rate of the last step (learning_rate.py)."""
    sgd = ref.SGD(ref.PiecewiseDecay([1, 2], [3.0, 2.0, 1.0]), parameters=[w := parameter()])
    sgd.step()
    saved = sgd.state_dict()
    w.grad = np.zeros(2, np.float32)
    sgd.step()
    sgd.step()
    assert sgd.get_lr() == 1.0
    sgd.set_state_dict(saved)
    assert sgd.get_lr() == 2.0


def test_an_idle_model_average_leaves_infinite_gradients_alone():
    x = layers.data("x", [None, 3])
    loss = layers.mean(layers.fc(x, 2, name="a"))
    ref.ModelAverage(0.5, 1, 2).minimize(loss)
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed={"x": np.full((1, 3), np.inf, np.float32)})
    for name, value in values(executor, default_main_program()).items():
        np.testing.assert_array_equal(value, before[name])


# eager calls


def test_names_stand_for_eager_parameters_of_the_constructor():
    kept, changed = parameter("kept"), parameter("changed")
    sgd = ref.SGD(0.5, parameters=[kept, changed])
    sgd.minimize(Tensor.of(kept), parameter_list=["changed"])
    np.testing.assert_array_equal(kept.value, [3.0, -4.0])
    np.testing.assert_array_equal(changed.value, [2.75, -5.0])
    with pytest.raises(ArgumentError, match="parameter 'other', must be the name of an eager parameter of the constr"):
        sgd.minimize(Tensor.of(kept), parameter_list=["other"])


def test_a_sparse_eager_embedding_gives_rows():
    table = Embedding(5, 2, is_sparse=True)
    table(np.array([1, 3, 3])).backward()
    table(np.array([0])).backward()
    assert table.weight.grad.rows.tolist() == [1, 3, 3, 0]
    np.testing.assert_array_equal(table.weight.gradient(), [[1, 1], [1, 1], [0, 0], [2, 2], [0, 0]])


def test_a_second_pair_of_the_same_parameter_is_refused():
    """The mutant that applies both (optimizer.py)."""
    w = parameter()
    sgd = ref.SGD(0.5, parameters=[w])
    with pytest.raises(ArgumentError, match="sgd: parameter 'w' is given twice"):
        sgd.apply_gradients([(w, w.grad), (w, w.grad)])
    np.testing.assert_array_equal(w.value, [3.0, -4.0])


# mutants in other places


def test_repeated_milestones_are_refused():
    """The mutant that accepts equal neighbours (schedulers.py)."""
    with pytest.raises(ArgumentError, match=r"MultiStepDecay: milestones = \[2, 2\], must increase"):
        ref.MultiStepDecay(0.1, [2, 2])


def test_a_gradient_of_exactly_the_limit_is_not_scaled():
    """The mutant with >= (clips.py): g * c / c rounds, so it changes the bits of some gradients."""
    grads = np.random.default_rng(0).standard_normal((50, 3))
    limits = [float(np.sqrt(np.sum(np.square(grad)))) for grad in grads]
    assert any(np.any(grad * limit / limit != grad) for grad, limit in zip(grads, limits, strict=True))
    for grad, limit in zip(grads, limits, strict=True):
        np.testing.assert_array_equal(ref.GradientClipByNorm(limit).clipped([grad])[0], grad)


def test_the_velocity_is_the_same_in_all_workers():
    """The mutant that stores it for worker 0 only (distributed/training.py)."""
    rule = DGCMomentum(momentum=0.5, rampup_begin_step=5)
    training = DGCTraining(rule, [np.ones(4)], 3)
    training.step([[np.full(4, float(worker))] for worker in range(3)], 0.5)
    for states in training.states:
        np.testing.assert_array_equal(states[0].velocity, np.ones(4))


# decision 0015


def test_how_many_entries_are_sent_is_exact_on_the_decimal():
    assert [count_sent(1000, s) for s in (0.9, 0.99, 0.999, 0.75)] == [100, 10, 1, 250]
    assert count_sent(100, 0.9) == 10


def test_compression_begins_with_nothing_accumulated():
    """The first u is the gradient alone: the dense velocity is not carried over."""
    rule = DGCMomentum(momentum=0.5, rampup_begin_step=1, sparsity=[0.0])
    state = rule.initial_state(np.ones(2))
    param, state = rule.update(np.ones(2), np.array([4.0, 2.0]), state, 0.5, 1)
    np.testing.assert_array_equal(state.velocity, [4.0, 2.0])
    param, state = rule.update(param, np.array([1.0, 1.0]), state, 0.5, 2)
    np.testing.assert_array_equal(param, np.array([-1.0, 0.0]) - 0.5)


def test_a_single_worker_and_small_tensors_are_compressed():
    rule = DGCMomentum(momentum=0.5, rampup_begin_step=0, sparsity=[0.5], num_trainers=1, local_grad_clip_norm=10.0)
    message, state = rule.compress(np.array([3.0, 4.0]), rule.initial_state(np.ones(2)), 0.5)
    assert message.indices.tolist() == [1]
    np.testing.assert_array_equal(state.v, [3.0, 0.0])


def test_lars_keeps_its_guard_and_calls_it_a_departure():
    rule = ref.LarsMomentum(0.5, 0.5).rule
    assert "Departure: where a norm is zero" in type(rule).__doc__
    still = rule.update(np.zeros(2), np.array([3.0, 4.0]), rule.initial_state(np.zeros(2)), 0.5, 1)[0]
    np.testing.assert_array_equal(still, [-1.5, -2.0])


def test_the_same_program_built_again_has_the_same_first_values():
    """Whatever else the process has built."""
    with fresh():
        network()
        first = values(started(), default_main_program())
    small_program()
    with fresh():
        network()
        again = values(started(), default_main_program())
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
