"""What stands around a rule: each hypothesis does what its words say, on numbers that are checked by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.first_mistake import changes
from optimetry.conformance.judging.identifying.observed import Observed, no_more
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.naming.runs.state import begun_ahead
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from tests.conformance.altered import after

ROWS = np.array([[3.0, 4.0], [0.6, 0.8]], np.float32)
"""A gradient whose rows have the norms 5 and 1."""

COLUMN = np.array([[12.0], [0.0]], np.float32)
"""A gradient of the norm 12."""

CASE = Case("sgd", "float32", {}, (1.0,), (np.zeros_like(ROWS), np.zeros_like(COLUMN)), ((ROWS, COLUMN),))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("scales each gradient to a norm of at most 0.5", [*(ROWS / np.sqrt(26) / 2).flat, 0.5, 0]),
        ("scales each gradient to a norm of at most 10", [*ROWS.flat, 10, 0]),
        ("scales each row of a gradient to a norm of at most 2", [1.2, 1.6, 0.6, 0.8, 2, 0]),
        (
            "scales all gradients together to a norm of at most 0.5",
            [*(np.array([*ROWS.flat, 12, 0]) / np.sqrt(170) / 2)],
        ),
        ("divides each gradient by the norm", [*(ROWS / np.sqrt(26)).flat, 1, 0]),
        ("divides each row of a gradient by the norm", [0.6, 0.8, 0.6, 0.8, 1, np.nan]),
        ("divides all gradients together by the norm", [*(np.array([*ROWS.flat, 12, 0]) / np.sqrt(170))]),
        ("subtracts from every gradient its mean over all axes but the first", [-0.5, 0.5, -0.1, 0.1, 0, 0]),
        ("subtracts from every gradient its mean over all elements", [0.9, 1.9, -1.5, -1.3, 6, -6]),
    ],
)
def test_gradients_are_changed_as_the_words_say(words: str, expected: list[float]) -> None:
    ways = after(words, CASE)
    assert ways
    np.testing.assert_allclose(ways[0], np.negative(expected), rtol=1e-6)
    for way in ways[1:]:  # with something added to the norm
        np.testing.assert_allclose(np.nan_to_num(way), np.nan_to_num(np.negative(expected)), rtol=1e-5)


@pytest.mark.parametrize(
    ("whose", "expected"),
    [
        ("each gradient", ROWS * 0.5 / np.sqrt(26)),
        ("each row of a gradient", [[0.3, 0.4], [0.6e-4, 0.8e-4]]),
        ("each column of a gradient", ROWS * [0.3 / np.sqrt(9.36), 0.4 / np.sqrt(16.64)]),
    ],
)
def test_a_gradient_is_limited_to_a_part_of_its_parameter(whose: str, expected: Any) -> None:
    """Of rows with the norms 5 and 0, of which the latter counts as 0.001, and columns with 3 and 4."""
    param = np.array([[3, 4], [0, 0]], np.float32)
    case = CASE.replace(parameters=(param,), grads=((ROWS,),))
    (result,) = after(f"scales {whose} to a norm of at most 0.1 of that of the parameter", case)
    np.testing.assert_allclose(np.reshape(result, (2, 2)), param - expected, rtol=1e-6, atol=1e-9)
    small = case.mapped(param=np.zeros_like, grad=lambda grad: grad * np.float32(2**-20))
    (kept,) = after(f"scales {whose} to a norm of at most 0.1 of that of the parameter", small)
    assert np.negative(kept).tolist() == (ROWS * np.float32(2**-20)).ravel().tolist()


def test_a_vector_is_one_row_and_has_no_axes_to_centre() -> None:
    vector = CASE.replace(parameters=(np.zeros(2, np.float32),), grads=((ROWS[0],),))
    np.testing.assert_allclose(after("scales each row of a gradient to a norm of at most 1", vector)[0], [-0.6, -0.8])
    (centred,) = after("subtracts from every gradient its mean over all axes but the first", vector)
    assert centred.tolist() == [-3, -4]


def test_a_missing_gradient_stays_missing() -> None:
    case = CASE.replace(grads=((None, COLUMN),))
    for words in ("scales all gradients together to a norm of at most 1", "divides each gradient by the norm"):
        assert after(words, case)[0].tolist() == [0, 0, 0, 0, -1, 0]


def test_parameters_are_moved_back_by_all_steps_or_by_their_own() -> None:
    number = np.zeros((), np.float32)
    case = Case(
        "sgd", "float32", {}, (1.0,) * 3, (number, number), ((number - 1,) * 2, (number - 1, None), (number - 1,) * 2)
    )
    by_all, by_own = after("moves parameters back to 0.5 of their way every 2 steps", case)
    assert by_all.tolist() == [2, 1.5]  # 1, back from 2 to 1, 2; and 1, back to 0.5, 1.5
    assert by_own.tolist() == [2, 1]  # the second parameter has its second step when the first has its third


def test_elements_that_would_go_along_with_their_gradient_stay() -> None:
    """Momentum goes on where it came from; of four elements one is turned round by the second gradient."""
    first, second = np.array([1, 1, 1, 1], np.float32), np.array([1, 1, 1, -0.25], np.float32)
    hyper = {"momentum": 0.5, "use_nesterov": False}
    case = Case("momentum", "float32", hyper, (1.0, 1.0), (np.zeros(4, np.float32),), ((first,), (second,)))
    words = "moves only the elements whose step goes against the gradient"
    (held,) = after(words, case)
    assert held.tolist() == [-2.5, -2.5, -2.5, -1]
    (enlarged,) = after(f"{words}, divided by the share of these elements", case)
    np.testing.assert_allclose(enlarged, [-1 - 1.5 / 0.75] * 3 + [-1])


@pytest.mark.parametrize(
    ("optimizer", "words", "tells"),
    [
        ("adagrad", "moves only the elements whose step goes against the gradient", False),
        ("adam", "moves only the elements whose step goes against the gradient", True),
        ("adagrad", "keeps moment in float16", False),
    ],
)
def test_what_takes_no_result_beyond_the_bound_of_its_rule_explains_nothing(
    optimizer: str, words: str, tells: bool
) -> None:
    """Adagrad has no momentum, so each of its steps goes against the gradient, and the bound alone is wider.

    The target has all digits, so no format has taken any.
    """
    tiers = mistakes_of_runs(SUBJECTS[optimizer], "float32")
    mistaken = [Mistaken(Explanation(documented_class(optimizer)), mistake) for tier in tiers for mistake in tier]
    chosen = [x for x in mistaken if str(x.part) == f"documented, but {words}"]
    drawn = list(drawn_cases(SUBJECTS[optimizer], "float32", seed=0, count=12))
    observed = Observed.of(NumpyTarget(), optimizer, "float32", partial(iter, drawn), Guard())
    assert chosen
    assert {changes(observed, each, no_more) for each in chosen} == {tells}


@pytest.mark.parametrize(
    ("optimizer", "offered"),
    [("papers.adam", True), ("momentum", False), ("torch.adagrad", False)],
    ids=["corrected", "never corrected", "without averages"],
)
def test_only_averages_that_are_corrected_can_begin_with_the_first_gradient_all_the_same(
    optimizer: str, offered: bool
) -> None:
    assert bool(list(begun_ahead(SUBJECTS[optimizer], "float32"))) == offered
