"""What users ran into: each of these failed, silently or with a raw error, before it was fixed."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry import fluid
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, count_sent
from optimetry.reference.distributed.training import DGCTraining
from optimetry.reference.errors import ArgumentError, OptimetryError, StateError
from optimetry.reference.programs import Executor, layers
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import Embedding, Linear
from optimetry.reference.programs.program import default_main_program, default_startup_program
from tests.reference.first_step import values
from tests.reference.small import FEED, fresh, network, parameter, started

ONES = np.ones((1, 3), np.float32)


def moved(executor, name, feed=FEED, program=None):
    """By how much a run moves the first bias, a float32 number each."""
    before = np.array(executor.scope.get(name))
    executor.run(program, feed=feed)
    return executor.scope.get(name) - before


# learning rates


def test_set_lr_after_minimize_with_a_variable():
    rate = layers.create_global_var([1], 0.5, "float32")
    loss = network()
    sgd = ref.SGD(rate)
    _, pairs = sgd.minimize(loss)
    executor = started()
    (grad,) = executor.run(feed=FEED, fetch_list=[pairs[1][1]])
    sgd.set_lr(0.0)
    np.testing.assert_array_equal(moved(executor, "a.b_0"), np.zeros_like(grad))
    assert sgd.get_lr() == 0.0
    sgd.set_lr_scheduler(ref.StepDecay(0.25, 1, 0.0))
    executor.run(feed=FEED)
    assert sgd.get_lr() == 0.25


def test_set_lr_to_a_variable_of_the_program():
    loss = network()
    rate = layers.create_global_var([1], 0.0, "float32", name="rate")
    sgd = ref.SGD(0.5)
    sgd.minimize(loss)
    executor = started()
    assert np.any(moved(executor, "a.b_0"))
    sgd.set_lr(rate)
    assert not np.any(moved(executor, "a.b_0"))
    executor.scope.values["rate"] = np.array([0.5], np.float32)
    assert np.any(moved(executor, "a.b_0"))
    assert sgd.get_lr() == 0.5


def test_a_variable_in_an_eager_constructor():
    w = parameter()
    sgd = ref.SGD(Tensor.of(np.array([0.5], np.float32)), parameters=[w])
    sgd.step()
    np.testing.assert_array_equal(w.value, [2.75, -5.0])
    sgd.set_lr(layers.create_global_var([1], 0.5, "float32", name="rate"))
    with pytest.raises(ArgumentError, match=r"sgd: learning_rate = Variable\('rate'.*an eager step needs a number"):
        sgd.step()


def test_a_negative_learning_rate_climbs():
    w = parameter()
    ref.SGD(-0.5, parameters=[w]).step()
    np.testing.assert_array_equal(w.value, [3.25, -3.0])


def test_noam_decay_of_page_004_advances_by_itself():
    """Step s has the rate d^-1/2 min(s^-1/2, s w^-3/2), from s = 1."""
    with fluid.dygraph.guard():
        linear = Linear(3, 3)
        sgd = fluid.optimizer.SGD(fluid.layers.noam_decay(0.25, 4), parameter_list=linear.parameters())
        rates, before = [], np.array(linear.weight.value)
        for _ in range(5):
            loss = fluid.layers.reduce_mean(linear(ONES))
            loss.backward()
            sgd.minimize(loss)
            rates.append(sgd.current_step_lr())
    assert rates == [0.25, 0.5, 0.75, 1.0, 2 * 5**-0.5]
    assert np.all(linear.weight.value != before)


def test_noam_decay_in_a_program_and_its_counter_begin_anew_at_startup():
    loss = network()
    counter = layers.decay_step_counter(1)
    rate = fluid.layers.noam_decay(0.25, 4)
    ref.SGD(rate).minimize(loss)
    executor = Executor()
    for _ in range(2):
        executor.run(default_startup_program())
        runs = [executor.run(feed=FEED, fetch_list=[counter, rate]) for _ in range(3)]
        assert [(int(count[0]), float(lr[0])) for count, lr in runs] == [(1, 0.25), (2, 0.5), (3, 0.75)]


# fetching what minimize returned


def test_what_minimize_returned_can_be_fetched_and_prunes():
    x, y = layers.data("x", [None, 3]), layers.data("y", [None, 3])
    first, second = layers.mean(layers.fc(x, 2, name="a")), layers.mean(layers.fc(y, 2, name="b"))
    result, _ = ref.SGD(0.5).minimize(first), ref.SGD(0.5).minimize(second)
    executor = started()
    before = values(executor, default_main_program())
    fetched = executor.run(feed=FEED, fetch_list=[first, result])  # nothing is fed for y
    after = values(executor, default_main_program())
    assert [value.shape for value in fetched] == [()]
    assert [name for name in before if np.any(before[name] != after[name])] == ["a.w_0", "a.b_0"]


def test_only_the_fetched_updates_run_though_another_writes_what_they_read():
    loss = network()
    frozen = ref.SGD(0.5)
    frozen.minimize(loss, parameter_list=["a.b_0"])
    result = ref.SGD(0.5).minimize(loss, parameter_list=["b.w_0"])
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed=FEED, fetch_list=[result])
    after = values(executor, default_main_program())
    assert [name for name in before if np.any(before[name] != after[name])] == ["b.w_0"]


# names


def small_program():
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = layers.mean(layers.fc(layers.data("x", [None, 3]), 2))
        return main, startup, loss


def test_two_programs_under_one_executor_do_not_share_by_accident():
    (first, one, loss), (second, two, _) = small_program(), small_program()
    ref.SGD(0.5).minimize(loss, one)
    executor = Executor()
    executor.run(one)
    executor.run(two)
    names = [{p.name for p in program.all_parameters()} for program in (first, second)]
    before = values(executor, second)
    executor.run(first, FEED)
    assert not names[0] & names[1]
    for name, value in values(executor, second).items():
        np.testing.assert_array_equal(value, before[name])


def test_an_optimizer_on_two_programs_has_a_momentum_for_each():
    (first, one, loss), (second, two, other) = small_program(), small_program()
    momentum = ref.Momentum(0.5, 0.5)
    momentum.minimize(loss, one)
    momentum.minimize(other, two)
    executor = Executor()
    executor.run(one)
    executor.run(two)
    steps = []
    for program in (first, second):
        bias = program.all_parameters()[1].name
        steps.append([moved(executor, bias, program=program).tolist() for _ in range(2)])
    assert steps[0] == steps[1]
    assert steps[0][1] == [1.5 * step for step in steps[0][0]]
    assert len(momentum.state_dict()) == 8


def test_a_name_given_twice_is_one_parameter_on_purpose():
    x = layers.data("x", [None, 3])
    shared = layers.ParamAttr(name="shared")
    both = [layers.fc(x, 2, param_attr=shared, bias_attr=False) for _ in range(2)]
    assert [p.name for p in default_main_program().all_parameters()] == ["shared"]
    _, ((p, grad),) = ref.SGD(0.5).minimize(layers.mean(layers.concat(both)))
    (value,) = started().run(feed=FEED, fetch_list=[grad])
    assert p.name == "shared"
    np.testing.assert_array_equal(value, np.repeat(FEED["x"].sum(axis=0)[:, np.newaxis] / 4, 2, axis=1) / 2 * 2)


def test_two_eager_layers_have_a_weight_each():
    first, second = Linear(3, 3), Linear(3, 3)
    out = second(first(ONES))
    out.backward()
    assert [p.name for p in (*first.parameters(), *second.parameters())] == [
        "linear_0.w_0",
        "linear_0.b_0",
        "linear_1.w_0",
        "linear_1.b_0",
    ]
    np.testing.assert_array_equal(first.bias.grad, second.weight.value.sum(axis=1))
    np.testing.assert_array_equal(second.bias.grad, np.ones(3))


def test_eager_arithmetic_and_its_gradient():
    w = parameter("w", (3.0, -4.0), None, np.float64)
    out = (2.0 * w + 1.0 - w / 2.0) ** 2
    (-out).backward()
    np.testing.assert_array_equal(w.grad, -2 * 1.5 * (1.5 * np.array([3.0, -4.0]) + 1))
    assert float(Tensor.of(np.array([2.5]))) == 2.5


def test_a_tensor_used_often_is_differentiated_once():
    """Thirty doublings are thirty nodes, not 2^30 evaluations."""
    w = parameter("w", (1.0,), None, np.float64)
    out = w + 0.0
    for _ in range(30):
        out = out + out
    out.backward()
    np.testing.assert_array_equal(w.grad, [2.0**30])


def test_variables_have_arithmetic_too():
    x = layers.data("x", [None, 3])
    (value,) = Executor().run(feed=FEED, fetch_list=[(2.0 * x - x * x) / 0.5 + 1.0])
    np.testing.assert_array_equal(value, (2 * FEED["x"] - FEED["x"] ** 2) / np.float32(0.5) + 1)


# several gradients in a program


def test_a_loss_is_minimized_twice():
    """Both steps take the same gradient, for the forward operators run once; it is named anew the second time."""
    loss = network()
    _, pairs = ref.SGD(0.5).minimize(loss)
    _, again = ref.SGD(0.25).minimize(loss)
    assert (pairs[2][1].name, again[2][1].name) == ("b.w_0@GRAD", "b.w_0@GRAD_0")
    executor = started()
    before = np.array(executor.scope.get("b.w_0"))
    first, second = executor.run(feed=FEED, fetch_list=[pairs[2][1], again[2][1]])
    np.testing.assert_array_equal(first, second)
    expected = before - np.float32(0.5) * first - np.float32(0.25) * second
    np.testing.assert_array_equal(executor.scope.get("b.w_0"), expected)


def test_two_losses_over_one_hidden_layer_and_two_optimizers():
    x = layers.data("x", [None, 3])
    hidden = layers.fc(x, 4, act="tanh", name="shared")
    losses = [layers.mean(layers.fc(hidden, 2, name=name)) for name in ("left", "right")]
    adam, sgd = ref.Adam(0.1), ref.SGD(0.5)
    pairs = [adam.minimize(losses[0])[1], sgd.minimize(losses[1])[1]]
    assert [[p.name for p, _ in each] for each in pairs] == [
        ["shared.w_0", "shared.b_0", "left.w_0", "left.b_0"],
        ["shared.w_0", "shared.b_0", "right.w_0", "right.b_0"],
    ]
    executor = started()
    before = values(executor, default_main_program())
    executor.run(feed=FEED)
    for name, value in values(executor, default_main_program()).items():
        assert np.any(value != before[name]), name


def test_a_stopped_variable_lets_no_gradient_through():
    """The mutant that ignores stop_gradient (programs/backward.py)."""
    x = layers.data("x", [None, 3])
    hidden = layers.fc(x, 4, name="a")
    hidden.stop_gradient = True
    _, pairs = ref.SGD(0.5).minimize(layers.mean(layers.fc(hidden, 2, name="b")))
    assert [p.name for p, _ in pairs] == ["b.w_0", "b.b_0"]


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


# decision 0013


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
