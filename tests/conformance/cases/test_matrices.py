"""Rules that tell rows and columns apart: their cases, and honest evaluations of them, which conform."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.conformance.cases.drawn import MATRICES, SHAPES, fitting, shapes_of
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import MORE_SCALES, large_plans
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.formulas.programs import program_of
from optimetry.conformance.selftest.equivalents.matrices import HONEST_RULES, InFloat64
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import Rule
from tests.conformance.judged import label, verdict_of

EFFORT = Effort("matrices", cases=24, law_cases=1)
SHAPED = [subject for subject in SUBJECTS.values() if subject.shaped]

honest = pytest.mark.parametrize("rule", HONEST_RULES, ids=label)


def target_of(rule: type[Rule]) -> Instead:
    return Instead(lambda documented, parameters: RuleRun(rule.of(documented.hyper()), parameters), rule.name)


@pytest.mark.parametrize(
    ("rule", "dtype"),
    [(rule, "float32") for rule in HONEST_RULES]
    + [(rule, "float64") for rule in HONEST_RULES if rule is not InFloat64],
    ids=label,
)
def test_an_honest_evaluation_conforms(rule: type[Rule], dtype: str) -> None:
    verdict = verdict_of(target_of(rule), rule.name, dtype, EFFORT)
    assert (verdict.verdict, verdict.reason, verdict.computes.arithmetic) == ("conforms", "", [])


@honest
def test_an_honest_evaluation_is_no_copy_of_the_reference(rule: type[Rule]) -> None:
    cases = drawn_cases(SUBJECTS[rule.name], "float32", seed=0, count=20)
    results = ((trajectory(target, case, Guard()) for target in (target_of(rule), NumpyTarget())) for case in cases)
    assert not all(np.array_equal(ours, theirs, equal_nan=True) for ours, theirs in results)


def test_every_shaped_rule_has_honest_evaluations() -> None:
    assert {rule.name for rule in HONEST_RULES} == {subject.name for subject in SHAPED}


@pytest.mark.parametrize("subject", SHAPED, ids=lambda subject: subject.name)
def test_cases_have_every_shape_that_the_rule_takes_and_no_other(subject) -> None:  # type: ignore[no-untyped-def]
    cases = drawn_cases(subject, "float32", seed=0, count=60)
    assert {param.shape for case in cases for param in case.parameters} == set(shapes_of(subject))
    assert {(1, 7), (9, 1), (2, 11), (13, 3)} <= set(shapes_of(subject))
    plans = list(large_plans(subject, "float32", MORE_SCALES, seed=0))
    assert len(plans) >= 5
    assert all(subject.takes(tensor.shape) for plan in plans for tensor in plan.tensors)


def test_other_rules_have_the_shapes_that_they_had() -> None:
    assert shapes_of(SUBJECTS["adam"]) == SHAPES
    assert not set(MATRICES) & set(SHAPES)


@pytest.mark.parametrize(
    ("shape", "matrix"), [((4099,), (64, 64)), ((), (1, 1)), ((3,), (1, 3)), ((33, 65, 31), (257, 258))]
)
def test_a_matrix_of_about_as_many_elements(shape: tuple[int, ...], matrix: tuple[int, int]) -> None:
    assert fitting(SUBJECTS["torch.muon"], shape) == matrix
    assert fitting(SUBJECTS["adam"], shape) == shape


@pytest.mark.parametrize("subject", SHAPED, ids=lambda subject: subject.name)
def test_a_case_is_shrunk_by_rows_and_columns(subject) -> None:  # type: ignore[no-untyped-def]
    case = next(
        case
        for case in drawn_cases(subject, "float32", seed=0, count=60)
        if (13, 3) in {x.shape for x in case.parameters}
    )
    small = shrunk(
        case, lambda smaller: any(x.ndim == 2 and min(x.shape) >= 2 for x in smaller.parameters), shaped=True
    )
    assert [param.shape for param in small.parameters] == [(2, 2)]
    assert all(grad is None or grad.shape == (2, 2) for (grad,) in small.grads)


def test_what_tells_rows_and_columns_apart_is_not_traced() -> None:
    for subject in SHAPED:
        assert program_of(subject.declaration.typical()) is None


def test_gradients_of_muon_are_so_small_that_iterations_do_not_forget_their_size() -> None:
    """Each iteration multiplies small numbers by a: some gradients, summed over all steps, stay below 1 after all."""
    muon = subject_named("torch.muon")
    default = {x.name: x.default for x in muon.hyperparameters() if x.name in ("a", "b", "c", "eps", "ns_steps")}
    limits, judged = Limits(pinned=tuple(default.items())), 0
    for case in map(limits.offered, drawn_cases(muon, "float32", seed=0, count=40, limits=limits)):
        for i in range(len(case.parameters)):
            total = sum(np.linalg.norm(grad.astype(np.float64)) for row in case.grads if (grad := row[i]) is not None)
            total *= default["a"] ** default["ns_steps"] / default["eps"]
            judged += 0 < total < 1 and case.hyper["momentum"] > 0
    assert judged >= 5
