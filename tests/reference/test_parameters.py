"""What one parameter may have of its own: factor, exclusion, precision, sparse rows."""

import ml_dtypes
import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.accumulators import Accumulators
from optimetry.reference.programs import layers
from optimetry.reference.rules import rule_named
from tests.reference.first_step import expected
from tests.reference.small import fresh, parameter, started


def test_a_parameters_learning_rate_factor_multiplies():
    w = parameter(learning_rate=0.5, dtype=np.float64)
    ref.SGD(0.25, parameters=[w]).step()
    np.testing.assert_array_equal(w.value, [3.0 - 0.125 * 0.5, -4.0 - 0.125 * 2.0])


def test_lamb_excludes_from_weight_decay():
    kept, excluded = parameter("kept"), parameter("excluded")
    lamb = ref.Lamb(0.1, 0.3, exclude_from_weight_decay_fn=lambda p: p.name == "excluded", parameters=[kept, excluded])
    lamb.step()
    start, grad = np.array([3.0, -4.0], np.float32), np.array([0.5, 2.0], np.float32)
    np.testing.assert_array_equal(kept.value, expected("lamb", 0.1, start, grad, lamb_weight_decay=0.3))
    np.testing.assert_array_equal(excluded.value, expected("lamb", 0.1, start, grad, lamb_weight_decay=0.0))
    assert np.any(kept.value != excluded.value)


def test_the_decay_of_asgd_is_not_remembered_with_the_gradient():
    """Page 001: y_i is the gradient, and λx stands outside of d. L1Decay has no place there, and joins the gradient."""
    decayed, own, l1 = (
        parameter("decayed", dtype=np.float64),
        parameter("own", dtype=np.float64, regularizer=ref.L2Decay(0.125)),
        parameter("l1", dtype=np.float64, regularizer=ref.L1Decay(0.25)),
    )
    asgd = ref.ASGD(0.5, 2, [decayed, own, l1], weight_decay=0.25)
    asgd.step()
    state = asgd.state_dict()
    np.testing.assert_array_equal(decayed.value, np.array([3.0, -4.0]) - 0.5 * np.array([0.5 + 0.75, 2.0 - 1.0]))
    np.testing.assert_array_equal(own.value, np.array([3.0, -4.0]) - 0.5 * np.array([0.5 + 0.375, 2.0 - 0.5]))
    np.testing.assert_array_equal(l1.value, np.array([3.0, -4.0]) - 0.5 * np.array([0.75, 1.75]))
    np.testing.assert_array_equal(state["decayed_asgd_history"][0], [0.5, 2.0])
    np.testing.assert_array_equal(state["l1_asgd_history"][0], [0.75, 1.75])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_multi_precision_keeps_a_float32_master(dtype):
    """Steps too small for the low precision add up in the master copy."""
    start, grad = np.array([1.0, 2.0], dtype), np.array([2.0**-11, 2.0**-11], dtype)
    low, high = (parameter(name, start, grad, dtype) for name in ("low", "high"))
    plain = ref.SGD(0.5, parameters=[low])
    mixed = ref.SGD(0.5, parameters=[high], multi_precision=True)
    for _ in range(64):
        plain.step()
        mixed.step()
    master = np.array([1.0, 2.0], np.float32) - np.float32(64 * 2.0**-12)
    np.testing.assert_array_equal(mixed.state_dict()["high_sgd_master"], master, strict=True)
    np.testing.assert_array_equal(high.value, master.astype(dtype), strict=True)
    assert np.all(low.value == start)
    assert np.all(high.value != start)
    assert "low_sgd_master" not in plain.state_dict()


def test_multi_precision_leaves_float32_alone():
    w = parameter()
    sgd = ref.SGD(0.5, parameters=[w], multi_precision=True)
    sgd.step()
    assert list(sgd.state_dict()) == ["w_sgd_updates"]


ROWS = ref.SparseRows([3, 1, 3], np.array([[1.0, 2.0], [3.0, 4.0], [0.5, -8.0]]), 5)


def test_sparse_rows_merge():
    np.testing.assert_array_equal(ROWS.merged().rows, [1, 3])
    np.testing.assert_array_equal(ROWS.merged().values, [[3.0, 4.0], [1.5, -6.0]])
    np.testing.assert_array_equal(ROWS.dense(), [[0, 0], [3.0, 4.0], [0, 0], [1.5, -6.0], [0, 0]])


def test_lazy_mode_leaves_rows_without_gradient_alone():
    """RULES §1: such rows keep w, m and v; repeated rows are summed first; t is global."""
    table = np.arange(10.0).reshape(5, 2)
    w = parameter("w", table, ROWS.dense(), np.float64)
    adam = ref.Adam(0.1, lazy_mode=True, parameters=[w])
    adam.step()
    first, moments = w.value, adam.state_dict()
    w.grad = ref.SparseRows([3, 3], np.ones((2, 2)), 5)
    adam.step()

    rule = rule_named("adam").of({})
    state = Accumulators(rule)
    want, entry = state.stepped(w, table, state.first(table), ROWS.dense(), 0.1)
    np.testing.assert_array_equal(first, want)
    want, entry = state.stepped(w, want, entry, np.full((5, 2), 2.0), 0.1)
    np.testing.assert_array_equal(w.value[3], want[3])
    np.testing.assert_array_equal(adam.state_dict()["w_adam_moment2"][3], entry.state.moment2[3])
    others = [0, 1, 2, 4]
    np.testing.assert_array_equal(w.value[others], first[others])
    for slot in ("w_adam_moment1", "w_adam_moment2"):
        np.testing.assert_array_equal(adam.state_dict()[slot][others], moments[slot][others])
    assert adam.state_dict()["w_adam_updates"] == 2


def test_a_regularizer_makes_a_lazy_gradient_dense():
    """Decision 0014: as in fluid 1.8.5 and paddle 2.6.2, every row has a term, so every row moves."""
    table = np.arange(10.0).reshape(5, 2)
    values = []
    for lazy, grad in ((True, ROWS), (False, ROWS.dense())):
        w = parameter("w", table, None, np.float64)
        w.grad = grad
        ref.Adam(0.1, regularization=ref.L2Decay(0.5), lazy_mode=lazy, parameters=[w]).step()
        values.append(w.value)
    np.testing.assert_array_equal(*values, strict=True)
    assert np.all(values[0][1:] != table[1:])


@pytest.mark.parametrize("regularization", [None, ref.L2Decay(0.5)])
def test_without_lazy_mode_a_sparse_gradient_is_a_dense_one(regularization):
    sparse, dense = parameter("sparse", np.ones((5, 2)), None), parameter("dense", np.ones((5, 2)), None)
    for w in (sparse, dense):
        adam = ref.Adam(0.1, regularization=regularization, parameters=[w])
        for _ in range(3):
            rows = ref.SparseRows(ROWS.rows, ROWS.values.astype(np.float32), 5)
            w.grad = rows if w is sparse else rows.dense()
            adam.step()
    np.testing.assert_array_equal(sparse.value, dense.value, strict=True)
    assert np.any(sparse.value != 1)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_sparse_embedding_trains_as_a_dense_one_where_it_should(lazy):
    results = []
    for is_sparse in (False, True):
        with fresh():
            ids = layers.data("ids", [None, 1], "int64")
            loss = layers.mean(layers.embedding(ids, [5, 2], is_sparse=is_sparse, param_attr="table"))
            ref.Adam(0.1, lazy_mode=lazy, grad_clip=ref.GradientClipByGlobalNorm(0.1)).minimize(loss)
            executor = started()
            first = executor.scope.get("table")
            for rows in ([[1], [3], [3]], [[0], [3], [3]]):
                executor.run(feed={"ids": np.array(rows)})
            results.append(executor.scope.get("table"))
    np.testing.assert_array_equal(results[0][[0, 2, 3, 4]], results[1][[0, 2, 3, 4]], strict=True)
    assert np.any(results[0][1] != results[1][1]) == lazy
    np.testing.assert_array_equal(results[1][[2, 4]], first[[2, 4]])
