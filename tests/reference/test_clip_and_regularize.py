"""Clips and regularizers: their numbers, their order and whose they are (RULES §4)."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.programs.eager import EagerParameter, Tensor
from optimetry.reference.programs.program import default_main_program
from tests.reference.small import FEED, network, parameter, started

CLIPS = [
    (ref.GradientClipByValue(1.0), (0.5, 1.0)),
    (ref.GradientClipByValue(2.0, min=1.0), (1.0, 2.0)),
    (ref.GradientClipByNorm(1.25), None),
    (ref.GradientClipByGlobalNorm(1.25), None),
]


def test_clip_then_regularization_then_rule():
    """‖g‖ = 5 is clipped to 1, then 0.5 w is added; the other order gives another gradient."""
    w = parameter(value=(3.0, -4.0), grad=(3.0, 4.0), dtype=np.float64)
    sgd = ref.SGD(1.0, ref.L2Decay(0.5), parameters=[w], grad_clip=ref.GradientClipByNorm(1.0))
    sgd.step()
    clipped = np.array([3.0, 4.0]) * 1.0 / 5.0
    np.testing.assert_array_equal(w.value, np.array([3.0, -4.0]) - (clipped + 0.5 * np.array([3.0, -4.0])))


def test_the_order_is_the_same_in_a_program():
    loss = network()
    ref.SGD(0.1, ref.L1Decay(0.5), grad_clip=ref.ClipGradByNorm(0.01)).minimize(loss)
    names = [o.name for o in default_main_program().operators if o.role == "optimize"]
    assert names == ["clip"] * 3 + ["regularize"] * 3 + ["learning_rate"] + ["sgd"] * 3


@pytest.mark.parametrize("joint", [False, True])
def test_a_step_of_a_program_is_an_eager_step(joint):
    clip = ref.GradientClipByGlobalNorm(0.01) if joint else ref.GradientClipByNorm(0.01)
    loss = network()
    _, pairs = ref.Momentum(0.1, 0.9, False, ref.L2Decay(0.25), grad_clip=clip).minimize(loss)
    executor = started()
    eager = [EagerParameter(p.name, executor.scope.get(p.name)) for p, _ in pairs]
    momentum = ref.Momentum(0.1, 0.9, False, ref.L2Decay(0.25), parameters=eager, grad_clip=clip)
    for _ in range(3):
        grads = executor.run(feed=FEED, fetch_list=[grad for _, grad in pairs])
        for p, grad in zip(eager, grads, strict=True):
            p.grad = grad
        momentum.step()
    for p in eager:
        np.testing.assert_array_equal(p.value, executor.scope.get(p.name), strict=True)


@pytest.mark.parametrize("clip", [clip for clip, _ in CLIPS], ids=lambda clip: type(clip).__name__)
def test_a_clip_changes_no_gradient_that_is_given(clip):
    grads = [np.array([0.5, 2.0], np.float32), np.array([[-3.0]], np.float32)]
    copies = [grad.copy() for grad in grads]
    for grad, copy, clipped in zip(grads, copies, clip.clipped(grads), strict=True):
        np.testing.assert_array_equal(grad, copy)
        assert (clipped.shape, clipped.dtype) == (grad.shape, grad.dtype)


@pytest.mark.parametrize(("clip", "want"), CLIPS[:2])
def test_clip_by_value(clip, want):
    (clipped,) = clip.clipped([np.array([0.5, 2.0])])
    np.testing.assert_array_equal(clipped, want)


def test_a_sparse_gradient_is_clipped_by_value_as_the_dense_one():
    rows = ref.SparseRows([2, 0, 2], np.array([[0.5, 5.0], [0.0, -2.0], [0.25, 0.0]]), 4)
    for low, kind in ((0.1, np.ndarray), (0.0, ref.SparseRows), (-1.0, ref.SparseRows)):
        clip = ref.GradientClipByValue(1.0, low)
        (sparse,), (dense,) = clip.clipped([rows]), clip.clipped([rows.dense()])
        assert isinstance(sparse, kind)
        np.testing.assert_array_equal(sparse.dense() if isinstance(sparse, ref.SparseRows) else sparse, dense)


def test_clip_by_norm_scales_each_gradient_above_the_limit():
    grads = [np.array([3.0, 4.0]), np.array([1.5, 2.0]), np.array([0.75, 1.0])]
    above, equal, below = ref.GradientClipByNorm(2.5).clipped(grads)
    np.testing.assert_array_equal(above, [1.5, 2.0])
    np.testing.assert_array_equal(equal, [1.5, 2.0])
    np.testing.assert_array_equal(below, [0.75, 1.0])


def test_clip_by_global_norm_scales_all_alike():
    clipped = ref.GradientClipByGlobalNorm(6.5).clipped([np.array([3.0, 4.0]), np.array([[12.0]])])
    np.testing.assert_array_equal(clipped[0], [1.5, 2.0])
    np.testing.assert_array_equal(clipped[1], [[6.0]])
    same = ref.GradientClipByGlobalNorm(16.0).clipped([np.array([3.0, 4.0]), np.array([[12.0]])])
    np.testing.assert_array_equal(same[0], [3.0, 4.0])
    assert ref.GradientClipByGlobalNorm(1.0).clipped([]) == []


def test_minimize_takes_a_clip_of_its_own():
    w = parameter(value=(0.0, 0.0), grad=(3.0, 4.0), dtype=np.float64)
    sgd = ref.SGD(1.0, parameters=[w], grad_clip=ref.GradientClipByNorm(1.0))
    sgd.minimize(Tensor.of(w), grad_clip=ref.GradientClipByValue(2.0))
    np.testing.assert_array_equal(w.value, [-2.0, -2.0])


def test_regularizers():
    w, g = np.array([2.0, -3.0, 0.0]), np.array([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(ref.L1Decay(0.5).regularized(w, g), [1.5, 0.5, 1.0])
    np.testing.assert_array_equal(ref.L2Decay(0.5).regularized(w, g), [2.0, -0.5, 1.0])


def test_a_parameters_own_regularizer_replaces_the_optimizers():
    own = parameter("own", grad=(1.0, 1.0), dtype=np.float64, regularizer=ref.L1Decay(0.5))
    other = parameter("other", grad=(1.0, 1.0), dtype=np.float64)
    ref.SGD(1.0, ref.L2Decay(0.25), parameters=[own, other]).step()
    np.testing.assert_array_equal(own.value, [3.0 - 1.5, -4.0 - 0.5])
    np.testing.assert_array_equal(other.value, [3.0 - 1.75, -4.0 - 0.0])


def test_append_regularization_ops_eagerly_and_in_a_program():
    w = parameter(value=(2.0, -4.0), grad=(1.0, 1.0))
    optimizer = ref.ASGD(0.1, parameters=[w])
    ((same, grad),) = optimizer.append_regularization_ops([(w, w.grad)], ref.L2Decay(0.5))
    assert same is w
    np.testing.assert_array_equal(grad, np.array([2.0, -1.0], np.float32), strict=True)
    np.testing.assert_array_equal(w.grad, [1.0, 1.0])

    loss = network()
    pairs = optimizer.backward(loss, parameter_list=default_main_program().all_parameters())
    ((_, out), *_) = optimizer.append_regularization_ops(pairs, ref.L2Decay(0.5))
    executor = started()
    before, after, value = executor.run(feed=FEED, fetch_list=[pairs[0][1], out, "a.w_0"])
    np.testing.assert_array_equal(after, before + np.float32(0.5) * value, strict=True)
    assert optimizer.append_regularization_ops(pairs) == pairs
