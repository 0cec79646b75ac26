"""What a rejection says: the cause first, the same from `check` and `diagnose`, and shown by a script that agrees."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.counterexamples.script import run_script, script, script_of_law
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.laws import laws_of
from optimetry.conformance.laws.law import Difference
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.numerics.agreement import SLACK, Expected, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.known_targets import HALF_QUICK, judged
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import run_of
from tests.conformance.judged import class_named, flushed, verdict_of, with_hooks

FEW = Effort("few", 20, 2)


FLUSHING = {
    "gradients": with_hooks(gradient=flushed),
    "state": with_hooks(slot=flushed),
    "parameters": with_hooks(parameter=lambda before, after: flushed(after)),
    "everything": with_hooks(gradient=flushed, slot=flushed, parameter=lambda before, after: flushed(after)),
    "gradients to one": with_hooks(gradient=lambda grad: np.where(flushed(grad) != grad, 1, grad).astype(grad.dtype)),
}


@pytest.mark.parametrize("way", FLUSHING)
def test_check_and_diagnose_agree_on_flushed_subnormals(way: str) -> None:
    agree(FLUSHING[way], "momentum")


@pytest.mark.parametrize("name", ["vector_tail_skipped", "state_in_float16", "adam_square_missing", "state_raises"])
def test_check_and_diagnose_agree_on_faults(name: str) -> None:
    agree(FAULTS[name].target(), FAULTS[name].optimizer)


def agree(target: Any, optimizer: str) -> None:
    checked = verdict_of(target, optimizer, effort=HALF_QUICK)
    (diagnosis,) = diagnose(engines_of(target), optimizer, "float32", effort=HALF_QUICK, seed=0)
    assert diagnosis.verdict == checked
    heading = "ANOTHER RULE" if checked.verdict == "dialect" else checked.verdict.upper()
    assert f"float32: {heading}" in report("x", [diagnosis], 0)
    if checked.verdict == "conforms":
        assert diagnosis.explanation is not None
        assert diagnosis.explanation.rule.documented


def test_a_probe_that_differs_is_a_rejection_by_check_as_well() -> None:
    def disguised(documented: Any, parameters: list[Array]) -> Any:
        """Another rule in the probes alone."""
        probe = any(np.array_equal(parameters[0], case.parameters[0]) for case in probes_of("adagrad", "float32"))
        formula = class_named("adagrad", "epsilon_inside").of(documented.hyper()) if probe else documented
        return run_of(formula, parameters)

    assert verdict_of(Instead(disguised), "adagrad", effort=FEW).verdict == "diverges"


def test_all_broken_laws_are_listed_the_most_telling_first() -> None:
    fault = FAULTS["position_dependent_rate"]
    verdict = judged(fault, "float32")
    assert verdict.law == "permutation"
    order = [
        verdict.reason.index(law.name) for law in laws_of(subject_named(fault.optimizer)) if law.name in verdict.reason
    ]
    assert len(order) > 1
    assert order == sorted(order)
    assert "times what rounding can" in verdict.reason


@pytest.mark.parametrize(
    "name",
    ["scalars_skipped", "column_order", "sgd_gradient_squared", "both_ends_skipped"],
)
def test_the_cause_is_the_same_in_both_dtypes(name: str) -> None:
    single, double = (judged(FAULTS[name], dtype, FEW, search=None) for dtype in ("float32", "float64"))
    assert single.law == double.law is not None
    assert single.reason.split("(")[0] == double.reason.split("(")[0]


@pytest.mark.parametrize(("number", "words"), [(np.nan, "NaN"), (np.inf, "an infinity")])
def test_what_is_not_finite_is_said_first_with_where_and_what_should_be(number: float, words: str) -> None:
    target = with_hooks(parameter=lambda before, after: np.where(np.abs(after) > 1, number, after).astype(after.dtype))
    verdict = verdict_of(target, "sgd", effort=FEW)
    assert verdict.counterexample is not None
    documented = float(verdict.counterexample["documented"])
    assert verdict.reason.startswith(f"returned {words} at step 1, element 0, where the documented formula gives ")
    assert f"{documented:.9g}" in verdict.reason


def test_float32_is_blamed_for_what_it_explains_in_further_cases_alone() -> None:
    """Numbers in float32 explain a first step, which is all that a probe has, and no count that is one behind."""
    late = with_hooks(rate=lambda rates: float(np.float32(rates[-1])), count=lambda count: max(count - 1, 1))
    verdict = verdict_of(late, "papers.adam", "float64", Effort("few", 8, 0), search=None)
    assert verdict.verdict == "diverges"
    assert verdict.reason.startswith("no known rule explains it")


def test_a_symptom_does_not_hide_the_cause() -> None:
    fault = FAULTS["asgd_divided_by_all_steps"]
    verdict = verdict_of(fault.target(), fault.optimizer, effort=HALF_QUICK, search=None)
    assert verdict.reason.startswith("no known rule explains it: up to ")
    assert "breaks a law: " in verdict.reason


def sometimes_wrong(wrong: int) -> Instead:
    """The documented formula, but one run is off by one."""
    runs = 0

    def begin(documented: Any, parameters: list[Array]) -> Any:
        nonlocal runs
        runs += 1
        run: Any = run_of(documented, parameters)
        if runs == wrong:
            plain = run.step
            run.step = lambda grads, rate: [array + array.dtype.type(1) for array in plain(grads, rate)]
        return run

    return Instead(begin)


@pytest.mark.parametrize("laws", [0, 2])
def test_what_is_wrong_once_is_shown_by_a_script_though_it_is_not_wrong_again(laws: int) -> None:
    verdict = verdict_of(sometimes_wrong(12), "sgd", effort=Effort("some", 20, laws))
    assert verdict.verdict == "diverges"
    assert verdict.share is not None
    assert (verdict.law is None) == (verdict.share > SLACK) == (laws == 0)
    assert verdict.counterexample is not None
    assert run_script(verdict.counterexample["script"]) > 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_script_that_would_decide_otherwise_gives_the_judges_numbers(dtype: str) -> None:
    """As where a comparison within rounding has two outcomes, of which the oracle's value is one."""
    one = np.ones(1, dtype)
    case = Case("sgd", dtype, {}, (0.5,), (one,), ((one,),))
    oracle = expected(case)
    after = np.full((1, 1), 0.75, dtype)
    other = Expected(oracle.value - 0.25, oracle.bound * 0 + 0.2, oracle.start)
    assert compare(after, other, case.form).share > 2
    text = script(case, after, other, title="A trial.", target="nobody")
    assert text is not None
    assert "as optimetry has evaluated it" in text
    assert run_script(text) == 1


@pytest.mark.parametrize(
    "name",
    [
        r"lib\users",
        "lib\nimport nowhere",
        "\r\x0c\0\x85",
        'triple"""quotes',
        '"""',
        "ends in \\",
        "\udc80",
        "x" * 99 + "\0",
    ],
)
def test_any_name_of_a_target_can_stand_in_a_script(name: str) -> None:
    one = np.ones(1, np.float32)
    case = Case("sgd", "float32", {}, (0.5,), (one,), ((one,),))
    oracle, after = expected(case), np.full((1, 1), 0.75, np.float32)
    other = Expected(oracle.value - 0.25, oracle.bound * 0 + 0.2, oracle.start)  # is given as numbers, not as a formula
    difference = Difference.of("", after, after + 1, 0)
    texts = [script(case, after, known, title=f"{name} is tried.", target=name) for known in (oracle, other)]
    texts.append(script_of_law(difference, [(case, after)], dtype="float32", title=f"{name} is tried.", about=name))
    for text in texts:
        assert text is not None
        assert run_script(text) == 1
        docstring = ast.get_docstring(ast.parse(text), clean=False)
        assert docstring is not None
        assert docstring.startswith(f"{name} is tried.\n\n")


def test_a_target_of_any_name_is_judged() -> None:
    target = with_hooks(returned=lambda after: [array + 1 for array in after])
    target.name = 'C:\\users\\"""lib'
    shown = verdict_of(target, "sgd", effort=FEW).counterexample
    assert shown is not None
    assert run_script(shown["script"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("disturbance", "near"), [(1e-4, True), (0.1, False)])
def test_the_counterexample_says_how_far_the_nearest_rule_is(disturbance: float, near: bool) -> None:
    """The reason says so where it has at most half as many wrong digits as the document."""

    def disturbed(documented: Any, parameters: list[Array]) -> Any:
        """Nearly `scaled_epsilon`."""
        run: Any = run_of(class_named("adam", "scaled_epsilon").of(documented.hyper()), parameters)
        plain = run.step
        run.step = lambda grads, rate: plain(grads, rate * (1 + disturbance))
        return run

    verdict = verdict_of(Instead(disturbed), "adam", effort=FEW)
    assert verdict.counterexample is not None
    nearest = verdict.counterexample["nearest"]
    assert nearest["rule"].startswith("scaled_epsilon")
    assert nearest["share"] > 2
    assert (f"the nearest, {nearest['rule']}, is {nearest['share']:.3g} bounds away" in verdict.reason) is near
    assert ("nearest" in verdict.reason) is near
    (diagnosis,) = diagnose(engines_of(Instead(disturbed)), "adam", "float32", effort=FEW, seed=0)
    assert ("nearest, scaled_epsilon" in report("x", [diagnosis], 0)) is near  # a rate times 1.1 has a name
