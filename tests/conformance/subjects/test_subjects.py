"""Every subject, rule or wrapper alike: it says what it is, and is the same formula on every kind of number."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import cases, drawn_cases
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.agreement import Expected, compare
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.formats import QUAD
from optimetry.conformance.oracle.expected import BoundedNumbers, expected
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named, subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import LEARNING_RATE, Subject
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.subjects.wrappers.averages import SCHEDULE
from optimetry.conformance.subjects.wrappers.clips import CLIP_NORMS, ClipByValue
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import HyperparameterError, UnknownOptimizerError
from optimetry.reference.precision import working
from optimetry.reference.rules import RULES
from tests.conformance.judged import IN_TURN

NAMED = "algorithms 4 and 5|equations 3 and 4|AdaMod|clipped ADOPT|LaProp|QHAdam"
"""What of a publication is cited otherwise than as one algorithm or figure."""

DOCUMENTS = {
    "fluid": r"(fluid|paddle)\.\S+ \(pages? .*\)",
    "papers": rf"[^()]+ \(20\d\d\), ((algorithm|figure) \d|{NAMED})",
    "torch": r"torch\.\S+ \(docstring\)",
}
"""How the documents of each book are cited."""

EACH = pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)


class Working:
    """Numbers in the case's own precision."""

    def array(self, array: Any) -> Any:
        return working(array)

    def scalar(self, name: str, number: float) -> Any:
        return number


class Quad:
    """Numbers in quad precision, in which a trajectory has no error to speak of."""

    def array(self, array: Any) -> Any:
        return working(np.asarray(array).astype(np.float64).astype(QUAD))  # whose products of matrices are right

    def scalar(self, name: str, number: float) -> Any:
        return np.asarray(number).astype(QUAD)


def run(subject: Subject, case: Case, numbers: Any) -> list[list[Any]]:
    with default_environment():
        return [list(arrays) for arrays in subject.trajectory(case, numbers)]


def table(steps: list[list[Any]], dtype: Any) -> Any:
    return np.stack([flat([np.asarray(array).astype(dtype) for array in arrays]) for arrays in steps])


@EACH
def test_a_subject_says_what_it_is(subject: Subject) -> None:
    assert subject is SUBJECTS[subject.name] is subject_named(subject.name)
    assert subject.name == subject.name.lower()
    assert all(word.isidentifier() for word in subject.name.split("."))
    assert subject.name.startswith(f"{subject.book}.") == (subject.book != "fluid")
    assert re.fullmatch(DOCUMENTS[subject.book], subject.document)
    assert subject.document in (subject.declaration.__doc__ or "")
    assert subject.has_learning_rate == isinstance(subject, RuleSubject)
    names = {parameter.name for parameter in subject.hyperparameters()}
    assert set(subject.numbers) - {LEARNING_RATE, SCHEDULE} <= names
    assert (SCHEDULE in subject.numbers) == (subject.name == "exponential_moving_average")
    assert (LEARNING_RATE in subject.numbers) == subject.has_learning_rate


def test_every_rule_and_every_wrapper_is_a_subject_and_nothing_else_is() -> None:
    others = [name for book, rules in BOOKS.items() if book != "fluid" for name in rules]
    assert list(SUBJECTS) == [*RULES, *WRAPPERS, *others]
    assert not set(RULES) & set(WRAPPERS)
    for case in drawn_cases(subject_named("l1_decay"), "float32", seed=0, count=1):
        assert subject_of(case) is SUBJECTS["l1_decay"]
    with pytest.raises(
        UnknownOptimizerError, match=r"unknown optimizer 'adm', must be one of: .*; did you mean adam\?"
    ):
        subject_named("adm")


@EACH
def test_the_numbers_of_a_subject_are_those_that_are_lifted(subject: Subject) -> None:
    """Whoever holds one in less precision computes something else; what only decides is none of them."""
    hyper = subject.declaration.typical().hyper()
    lifted: list[str] = []
    subject.of(hyper).lifted(lambda name, number: lifted.append(name) or number)
    assert [name for name in subject.numbers if name not in (LEARNING_RATE, SCHEDULE)] == lifted


@EACH
def test_a_wrong_hyperparameter_is_refused(subject: Subject) -> None:
    hyper = subject.declaration.typical().hyper()
    with pytest.raises(HyperparameterError, match=f"{subject.name}: unknown hyperparameter 'nonesuch'"):
        subject.of({**hyper, "nonesuch": 1.0})
    assert subject.of(hyper).hyper() == hyper


@EACH
@settings(deadline=None, derandomize=True, database=None, max_examples=15)
@given(data=st.data())
def test_adapting_a_case_again_changes_nothing(subject: Subject, data: Any) -> None:
    case = data.draw(cases(subject, "float32"))
    assert subject.adapted(case).to_json() == case.to_json()
    assert len(case.grads) == len(case.learning_rates)
    assert subject.of(case.hyper).hyper() == case.hyper
    if not isinstance(subject, RuleSubject):
        assert all(grad is not None for row in case.grads for grad in row)


@pytest.mark.parametrize("low", [-1.0, 0.001, 0.75])
@pytest.mark.parametrize("high", CLIP_NORMS)
def test_the_ends_of_a_clip_are_made_consistent_once(low: float, high: float) -> None:
    once = ClipByValue.consistent({"min": low, "max": high})
    assert once["min"] in (-high, -high / 2)
    assert ClipByValue.consistent(once) == once


@pytest.mark.parametrize(("name", "dtype"), IN_TURN)
def test_working_precision_quad_precision_and_bounds_agree(name: str, dtype: str) -> None:
    """Working precision errs by no more than the bound says; in quad precision that is next to nothing."""
    judged, subject = 0, SUBJECTS[name]
    for case in drawn_cases(subject, dtype, seed=8, count=4):
        bounded = run(subject, case, BoundedNumbers(subject, case.form))
        oracle = Expected(
            np.stack([np.concatenate([x.value.reshape(-1) for x in arrays]) for arrays in bounded]),
            np.stack([np.concatenate([x.bound.reshape(-1) for x in arrays]) for arrays in bounded]),
            np.zeros(case.size),
        )
        known = np.isfinite(oracle.bound) & np.isfinite(oracle.value)
        narrow = compare(table(run(subject, case, Working()), case.form.dtype), oracle, case.form)
        assert narrow.share <= 1
        exact = table(run(subject, case, Quad()), QUAD)[known]
        apart = np.abs(exact - oracle.value[known].astype(QUAD))
        assert np.all(apart <= oracle.bound[known].astype(QUAD))
        judged += int(np.sum(known))
    assert judged > 0


@EACH
def test_a_trajectory_has_an_array_for_each_parameter_in_each_step_and_changes_no_input(subject: Subject) -> None:
    for case in drawn_cases(subject, "float32", seed=9, count=8):
        before = case.to_json()
        steps = run(subject, case, Working())
        assert len(steps) == len(case.grads)
        assert all([x.shape for x in arrays] == [x.shape for x in case.parameters] for arrays in steps)
        assert case.to_json() == before
        assert [x.shape for x in subject.magnitudes(case)] == [x.shape for x in case.parameters]
        assert all((np.asarray(x) >= 0).all() for x in subject.magnitudes(case))


@EACH
def test_what_a_subject_says_of_its_elements_holds(subject: Subject) -> None:
    """Elementwise: elements do not know of each other; joint: what one parameter gets depends on the others."""
    differs = False
    for case in drawn_cases(subject, "float32", seed=10, count=12):
        sizes = [param.size for param in case.parameters]
        if subject.elementwise:
            alone = case.only([int(np.argmax(sizes))])
            flatter = alone.each(lambda array: array.reshape(-1)[:1])
            assert expected(flatter).value.tobytes() == np.ascontiguousarray(expected(alone).value[:, :1]).tobytes()
        whole, first = expected(case).value, expected(case.only([0])).value
        same = whole[:, : sizes[0]].tobytes() == first.tobytes()
        assert same or subject.joint
        differs = differs or not same
    assert differs == subject.joint
