"""Vectors that no small drawn case is: what they hold, that the reference passes, and which faults they alone show."""

import dataclasses
import json

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.vectors import ordinary, writing
from optimetry.conformance.judging.vectors.extremes import FINITE, MANY, NONFINITE, Vector, extremes, required_of
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest import vector_table
from optimetry.conformance.selftest.equivalents import STYLES, rules_of
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.vector_reading import accepts, case_of
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.reference.books import BOOKS
from tests.conformance.judged import vectors_of


def ends(of_set):
    return [vector["id"].rpartition("-")[2] for vector, _ in of_set.vectors]


def without(of_set, end):
    return of_set._replace(vectors=[pair for pair in of_set.vectors if not pair[0]["id"].endswith(end)])


def test_of_a_vector_as_it_is_every_step_is_compared():
    case = next(x for x in drawn_cases(subject_named("sgd"), "float32", seed=0, count=9) if len(x.grads) > 2)
    vector = Vector.of("all", case)
    assert vector.checked == tuple(range(1, len(case.grads) + 1))
    assert vector.evaluated.content == case.content


def test_what_is_short_begins_again():
    file = {"optimizer": "sgd", "dtype": "float32"}
    one, two = (np.float32(x).tobytes().hex() for x in (1, 2))
    vector = {
        "hyper": {},
        "learning_rates": ["0x1p-1", "0x1p-2"],
        "tensors": 3,
        "parameters": [{"shape": [5], "bits": one + two}, {"shape": [], "bits": two}],
        "grads": [[one, None], [two], [one + two]],
        "checked": [4],
        "expected": [[one + two, two]],
        "allowed": [["0x0p+0 0x1p-1", "nan"]],
    }
    case = case_of(file, vector)
    assert case.learning_rates == (0.5, 0.25, 0.5, 0.25)
    assert [param.tolist() for param in case.parameters] == [[1, 2, 1, 2, 1], 2, [1, 2, 1, 2, 1]]
    assert [grad if grad is None else grad.tolist() for grad in case.grads[3]] == [[1] * 5, None, [1] * 5]
    assert [grad.tolist() for grad in case.grads[2]] == [[1, 2, 1, 2, 1], 1, [1, 2, 1, 2, 1]]
    good = [np.float32([1, 2.5, 1, 2, 1]), np.array(np.nan, "f"), np.float32([1, 2, 1, 1.5, 1])]
    assert accepts(vector, 4, good)
    assert accepts(vector, 3, [])
    for i, element, wrong in ((0, 1, 2.6), (0, 4, 1.1), (0, 0, np.nan), (1, 0, 2.0), (2, 3, np.inf)):
        bad = [array.copy() for array in good]
        bad[i].flat[element] = wrong
        assert not accepts(vector, 4, bad)


def test_a_set_holds_a_long_run_large_tensors_many_tensors_and_infinities():
    by_end = dict(zip(ends(vectors_of("sgd", "float32")), vectors_of("sgd", "float32").vectors, strict=True))
    long, large, many, nonfinite = (by_end[end] for end in ("long", "large", "many", "nonfinite"))
    assert len(long[1].grads) == long[0]["checked"][-1] == 2500
    assert [param.shape for param in large[1].parameters] == [(70_003,), (4096,), (257, 5), (2, 65, 3)]
    assert len(many[1].parameters) == MANY
    assert nonfinite[0]["allowed"][1][0].split().count("nan") == 3
    assert max(len(json.dumps(vector)) for vector, _ in (long, large, many, nonfinite)) < 3000


@pytest.mark.slow
def test_the_run_that_is_written_is_the_run_that_is_evaluated():
    written = [case for _, case in vectors_of("lamb", "float32").vectors[-3:]]
    for vector, case in zip(extremes("lamb", "float32"), written, strict=True):
        assert vector.evaluated.content == case.only(range(len(vector.shapes))).content
        assert len(case.parameters) == vector.tensors


RULES = [
    ("adam", "float64"),
    ("lamb", "float32"),
    ("ftrl", "float32"),
    ("torch.rprop", "float32"),
    ("torch.adafactor", "float32"),
    ("papers.lion", "float64"),
]


@pytest.mark.parametrize(("rule", "dtype"), RULES)
def test_the_reference_passes(rule, dtype):
    assert not vector_table.caught(NumpyTarget(), vectors_of(rule, dtype))


@pytest.mark.parametrize("dtype", writing.DTYPES)
@pytest.mark.parametrize("book", BOOKS)
def test_infinities_and_nan_are_judged_as_every_honest_evaluation_has_them(book, dtype):
    tried = 0
    for rule in filter(is_elementwise, BOOKS[book]):
        vector = writing.written(next(extremes(rule, dtype)))
        assert vector["id"].endswith("nonfinite")
        alone = vector_table.Set([(vector, case_of({"optimizer": rule, "dtype": dtype}, vector))], 0)
        styles = [style for style in STYLES.values() if rule in rules_of(style)]
        assert not [style.name for style in styles if vector_table.rejects_honest(style, alone)]
        tried += len(styles)
    assert tried > 150


def is_elementwise(rule):
    return subject_named(rule).elementwise


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        ("rate_frozen", "long"),
        ("torch.rprop_no_smallest", "long"),
        ("clipped_at_1000", "long"),
        ("rows_beyond_256_skipped", "large"),
        ("planes_beyond_64_skipped", "large"),
        ("last_of_many_dropped", "many"),
        ("torch.adafactor_normalised_over_all_matrices", "many"),
        ("nan_replaced_by_zero", "nonfinite"),
        ("overflow_saturated", "nonfinite"),
        ("nan_spread_over_the_tensor", "nonfinite"),
    ],
)
def test_an_extreme_vector_shows_what_no_other_does(fault, end):
    declared = FAULTS[fault]
    whole = vectors_of(declared.optimizer, "float32")
    assert vector_table.caught(declared.target(), whole)
    assert not vector_table.caught(declared.target(), without(whole, end))


@pytest.mark.parametrize("name", ["velocity_is_the_gradient_buffer", "gradient_changed_later", "gradient_changed"])
def test_gradients_stand_in_the_same_arrays_and_are_compared(name):
    declared = FAULTS[name]
    assert vector_table.caught(declared.target(), vectors_of(declared.optimizer, "float32"))


@pytest.mark.parametrize("name", ["kernel_chosen_by_the_run", "kernel_chosen_by_a_cache"])
def test_playing_a_set_there_and_back_shows_bits_that_depend_on_the_run(name):
    declared = FAULTS[name]
    of_rule = vectors_of(declared.optimizer, "float32")
    assert vector_table.caught(declared.target(), of_rule)
    assert not vector_table.caught(declared.target(), of_rule, again=False)


@pytest.mark.slow
def test_flushed_subnormals_are_accepted_because_the_bound_allows_for_them(monkeypatch):
    flushing = vector_table.conforming()
    assert {fault.name for fault in flushing} == {"subnormal_gradients_flushed", "subnormal_state_flushed"}
    assert not any(vector_table.caught(fault.target(), vectors_of(fault.optimizer, "float32")) for fault in flushing)
    monkeypatch.setattr(writing, "judged", expected)
    of_adamax = vector_table.made("adamax", "float32")
    assert vector_table.caught(FAULTS["subnormal_state_flushed"].target(), of_adamax)


@pytest.mark.slow
def test_what_says_nothing_to_its_end_is_left_out():
    assert not {"many", "long"} & set(ends(vectors_of("torch.muon", "float32")))
    assert {"many", "long"} <= set(ends(vectors_of("torch.adafactor", "float32")))
    assert "long" in ends(vectors_of("papers.radam", "float32"))  # though a step may be rectified or not


def test_expected_values_that_do_not_begin_again_are_refused():
    (case, _), *_ = ordinary.chosen("torch.adafactor", "float32")
    pattern = np.float32([1, 2])
    small = case.replace(parameters=(pattern,), grads=((pattern,),), learning_rates=(0.1,))
    vector = dataclasses.replace(Vector.of("odd", small), shapes=((3, 3),))
    with pytest.raises(ValueError, match=r"torch\.adafactor-float32-odd: expected values do not begin again"):
        writing.written(vector)
    assert writing.written(dataclasses.replace(vector, shapes=((2,),)))["parameters"][0]["shape"] == [2]


@pytest.mark.parametrize(
    ("kinds", "required"),
    [
        ({"finite"}, FINITE),
        ({"nan"}, NONFINITE),
        ({"nan", "inf"}, NONFINITE),
        ({"finite", "nan"}, None),
    ],
)
def test_a_result_must_be_what_all_readings_have_in_common(kinds, required):
    assert required_of(kinds) == required


def test_a_result_that_must_be_a_number_is_allowed_every_one():
    ((vector, case),) = (
        pair for pair in vectors_of("papers.lion", "float64").vectors if pair[0]["id"].endswith("nonfinite")
    )
    run = NumpyTarget().start(case.optimizer, dict(case.hyper), list(case.parameters))
    after = [run.step(list(grads), rate) for grads, rate in case.steps]
    assert float.fromhex(vector["allowed"][1][0].split()[3]) == writing.LARGEST
    good = [array.copy() for array in after[1]]
    for value, accepted in ((1e308, True), (-3.0, True), (np.nan, False), (np.inf, False)):
        good[0][3] = value
        assert accepts(vector, 2, good) == accepted
