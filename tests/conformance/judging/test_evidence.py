"""Counterexamples: small cases that replay, and scripts that say the document's formula and need NumPy alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.broken import Broken
from optimetry.conformance.judging.counterexamples.evidence import of_broken_law, of_difference, of_fault
from optimetry.conformance.judging.counterexamples.script import run_script
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Law, Trial
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.known.elsewhere import rules_elsewhere
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.numerics.agreement import SLACK, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.selftest.known_targets import judged
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault, TargetHung
from optimetry.reports.parts import Part
from optimetry.reports.results import Computes, Verdict
from tests.conformance.judged import NAMED, dialect_named, label, verdict_of, with_hooks

WITHOUT_LAWS = Effort("quick, without laws", 60, 0)
OF_WRAPPERS = [dialect for dialect in NAMED if not isinstance(SUBJECTS[dialect.optimizer], RuleSubject)]
OF_RULES = [("adam", "amsgrad"), ("lamb", "bias_corrected"), ("ftrl", "l1_for_l2"), ("asgd", "decay_in_history")]
SCRIPTED = [*(dialect_named(*pair) for pair in OF_RULES), *{each.optimizer: each for each in OF_WRAPPERS}.values()]
"""One for each formula that a script evaluates."""


def shown_by(verdict: Verdict) -> dict[str, Any]:
    assert verdict.counterexample is not None
    return verdict.counterexample


@pytest.mark.parametrize(
    ("optimizer", "name"), [("adam", "scaled_epsilon"), ("rmsprop", "nesterov"), ("clip_by_norm", "always_scaled")]
)
def test_counterexamples_are_small_and_replay(optimizer: str, name: str) -> None:
    target = computing(dialect_named(optimizer, name))
    shown = shown_by(verdict_of(target, optimizer, effort=WITHOUT_LAWS))
    case = Case.from_json(shown["case"])
    assert (len(case.grads), len(case.parameters), case.size) == (1, 1, 1)
    after, oracle = trajectory(target, case, Guard()), expected(case)
    assert not compare(after, oracle, case.form).conforms
    assert (shown["step"], shown["element"], shown["given"]) == (1, 0, repr(after[0, 0].item()))
    assert (shown["documented"], shown["bound"]) == (str(oracle.value[0, 0]), float(oracle.bound[0, 0]))
    assert shown["share"] == pytest.approx(abs(float(after[0, 0]) - float(oracle.value[0, 0])) / shown["bound"])
    assert json.loads(json.dumps(shown)) == shown


class WrongLate:
    """Of several elements the last is one too large, from the second step on."""

    def __init__(self, documented: Any, parameters: list[Array]) -> None:
        self.run: Any = run_of(documented, parameters)
        self.taken = 0

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        self.taken += 1
        after: list[Array] = self.run.step(grads, learning_rate)
        for array in after:
            if array.size > 1 and self.taken > 1:
                array.flat[-1] += 1
        return after


def test_a_counterexample_shows_the_step_from_1_and_the_element_from_0_with_its_numbers() -> None:
    target = Instead(WrongLate)
    shown = shown_by(verdict_of(target, "sgd", effort=WITHOUT_LAWS))
    case = Case.from_json(shown["case"])
    assert (len(case.grads), case.size) == (2, 2)
    after, oracle = trajectory(target, case, Guard()), expected(case)
    assert (shown["step"], shown["element"]) == (2, 1)
    assert shown["given"] == repr(after[1, 1].item()) != repr(after[0, 0].item())
    assert shown["documented"] == str(oracle.value[1, 1])
    assert shown["bound"] == float(oracle.bound[1, 1])


def test_of_a_long_case_nothing_is_tried_behind_the_step_that_shows_the_difference() -> None:
    tried: list[int] = []

    class WrongInStep9:
        def __init__(self, documented: Any, parameters: list[Array]) -> None:
            self.run: Any = run_of(documented, parameters)
            self.taken = 0

        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            self.taken += 1
            tried.append(self.taken)
            after: list[Array] = self.run.step(grads, learning_rate)
            return [array + (self.taken == 9) for array in after]

    target = Instead(WrongInStep9)
    drawn = drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=20)
    case = max((each for each in drawn if each.size), key=lambda each: len(each.grads))
    after = trajectory(target, case, Guard())
    assert max(tried) == len(case.grads) > 20
    tried.clear()
    assert of_difference(target, case, after, Guard())["step"] == max(tried) == 9


def test_the_script_holds_the_case_and_the_limits_and_prints_every_value(tmp_path: Path) -> None:
    shown = shown_by(verdict_of(Instead(WrongLate), "sgd", effort=WITHOUT_LAWS))
    lines = shown["script"].splitlines()
    assert lines[0] == '"""instead 0 on sgd in float32.'
    assert lines[2] == "Evaluates the documented formula in float64, and compares what instead 0 gave with it."
    assert "parameters = [[-1.0, -1.0]]  # before the first step" in lines
    assert "learning_rates = [0.1, 0.1]" in lines
    assert "grads = [[[-1.0, -1.0]], [[1.0, -1.0]]]  # one list a step; None: no gradient" in lines
    (assignment,) = (line for line in lines if line.startswith("given = "))
    assert assignment == (
        "given = [[[-0.8999999761581421, -0.8999999761581421]], [[-1.0, 0.20000004768371582]]]"
        "  # what instead 0 gave after each step"
    )
    (allowed,) = (line for line in lines if line.startswith("allowed = "))
    assert allowed.endswith("  # 2 times the rounding-error bound of float32")
    assert json.loads(allowed.split(" = ")[1].split("  #")[0])[1][0][1] == SLACK * shown["bound"]
    assert "documented = Documented(slots=())" in lines

    (tmp_path / "counterexample.py").write_text(shown["script"], encoding="utf-8")
    command = [sys.executable, "-I", tmp_path / "counterexample.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert ran[0].split() == ["step", "tensor", "element", "documented", "given", "difference", "allowed"]
    assert [line.split()[:3] for line in ran[1:5]] == [
        ["1", "0", "0"],
        ["1", "0", "1"],
        ["2", "0", "0"],
        ["2", "0", "1"],
    ]
    assert ran[4].split()[3:6] == ["-0.80000000000000004", "0.20000004768371582", "1"]
    assert ran[5] == "1 of the values above differ by more than rounding can explain"


def test_hyperparameters_are_numbers_of_the_wide_type_in_the_script() -> None:
    dialect = dialect_named("rmsprop", "nesterov")
    for dtype, wide in (("float32", "float64"), ("float64", "longdouble")):
        shown = shown_by(verdict_of(computing(dialect), "rmsprop", dtype, WITHOUT_LAWS))
        hyper = Case.from_json(shown["case"]).hyper
        (call,) = (line for line in shown["script"].splitlines() if line.startswith("documented = "))
        assert f"wide = np.{wide}\n" in shown["script"]
        assert f"rho=wide({hyper['rho']!r}), " in call
        assert f"centered={hyper['centered']}" in call
        assert call.endswith("slots=('mean_square', 'mean_grad', 'velocity'))"), call


def test_a_number_that_stands_in_a_list_many_times_is_written_once() -> None:
    target = with_hooks("sgd", gradient=lambda grad: np.nan_to_num(grad) if grad.size > 1000 else grad)
    verdict = verdict_of(target, "sgd")
    text = shown_by(verdict)["script"]
    assert "* 2049, nan, *[" in text
    assert len(text) < 5000
    assert run_script(text) == 1


class Unsteady(NumpyTarget):
    """Of three runs one is exact, one a unit in the last place above it, and one below it."""

    def __init__(self, rule: PointClass) -> None:
        self.rule, self.runs = rule, 0

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        self.runs += 1
        towards = (None, np.inf, -np.inf)[self.runs % 3]
        run: Any = run_of(self.rule.of(hyper), parameters)
        plain = run.step
        if towards is not None:
            run.step = lambda grads, rate: [
                np.array(np.nextafter(x, x.dtype.type(towards))) for x in plain(grads, rate)
            ]
        return run


def test_the_counterexample_to_a_law_is_a_small_case_that_breaks_it() -> None:
    verdict = verdict_of(Unsteady(documented_class("sgd")), "sgd", effort=Effort("laws alone", 1, 1))
    shown = shown_by(verdict)
    assert (verdict.verdict, verdict.law) == ("diverges", "repeatable")
    assert shown.keys() >= {"case", "script"}
    case = Case.from_json(shown["case"])
    assert (len(case.grads), case.size) == (1, 1)
    assert LAWS["repeatable"].broken(Trial(Unsteady(documented_class("sgd")), case, Guard())) is not None


@pytest.mark.parametrize(
    ("optimizer", "name"),
    [("adagrad", "epsilon_inside"), ("papers.adamw", "torch.adamw")],  # the latter is as documented without a decay
)
def test_a_known_formula_that_breaks_a_universal_law_is_named_beside_it_and_is_no_dialect(
    optimizer: str, name: str
) -> None:
    known: Any = [*named_classes(optimizer), *rules_elsewhere(optimizer)]
    dialect = next(rule for rule in known if rule.name == name)

    def begin(documented: Any, parameters: list[Array]) -> Any:
        """Another rule, which forgets its state when that is loaded."""
        run: Any = run_of(dialect.of(documented.hyper()), parameters)
        run.load = lambda state: None
        return run

    verdict = verdict_of(Instead(begin), optimizer, effort=Effort("laws on all", 16, 16))
    assert (verdict.verdict, verdict.law, verdict.dialect) == ("diverges", "resuming", None)
    assert verdict.computes == Computes(parts=[Part(name)])
    assert f"; elsewhere it computes {name}: {dialect.difference}, as in " in verdict.reason
    without = verdict_of(Instead(begin), optimizer, effort=Effort("without laws", 16, 0))
    assert (without.verdict, without.dialect) == ("dialect", name), "by its results alone it is known"


def test_a_counterexample_is_a_case_in_which_the_target_gives_a_result() -> None:
    def begin(documented: Any, parameters: list[Array]) -> Any:
        """Wrong from two elements on, and raises for one alone."""
        if parameters[0].size == 1:
            raise ValueError("no single element")
        run: Any = run_of(documented, parameters)
        plain = run.step
        run.step = lambda grads, rate: [x + x.dtype.type(1) for x in plain(grads, rate)]
        return run

    two = np.zeros((2,), np.float32)
    case = Case("sgd", "float32", {}, (0.1,), (two,), ((two + np.float32(1),),))
    target = Instead(begin)
    shown = of_difference(target, case, trajectory(target, case, Guard()), Guard())
    assert [len(grads[0]) for grads in Case.from_json(shown["case"]).grads if grads[0] is not None] == [2]
    assert shown["given"] == repr(float(np.float32(0.9)))


def test_the_case_of_a_broken_law_is_sought_among_a_hundred_smaller_ones() -> None:
    tried: list[Case] = []

    def check(trial: Trial) -> str | None:
        tried.append(trial.case)
        return None

    law = Law("never", "shows once", True, lambda subject: True, check)
    case = next(x for x in drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=30) if len(x.parameters) > 4)
    wide = case.replace(parameters=case.parameters * 12, grads=tuple(grads * 12 for grads in case.grads))
    shown = of_broken_law(NumpyTarget(), Broken(law, "shown once", wide), Guard())
    assert shown == {"case": wide.to_json(), "law": "never", "found": "shown once", "script": None}
    assert len(tried) == 101  # once as it is, to have its numbers


def faulty_case() -> Case:
    return next(case for case in drawn_cases(SUBJECTS["sgd"], "float32", seed=0, count=9) if len(case.grads) > 1)


def test_a_hang_is_not_repeated_to_find_a_smaller_one() -> None:
    started = []
    target = Instead(lambda documented, parameters: started.append(parameters) or run_of(documented, parameters))
    shown = of_fault(target, TargetHung("hung"), faulty_case(), Guard())
    assert shown == {"case": faulty_case().to_json(), "script": None}
    assert started == []


def test_a_fault_that_does_not_show_again_keeps_its_case() -> None:
    started = []
    target = Instead(lambda documented, parameters: started.append(parameters) or run_of(documented, parameters))
    shown = of_fault(target, TargetFault("raised once"), faulty_case(), Guard())
    assert shown == {"case": faulty_case().to_json(), "script": None}
    assert len(started) == 2, "its results with shared and with fresh arrays, of the whole case alone"


def finite(grad: Array) -> Array:
    if np.isnan(grad).any():
        raise FloatingPointError("NaN")
    return grad


def test_the_counterexample_to_a_run_that_a_law_made_is_that_run() -> None:
    """No drawn case has NaN: the smallest of these would be shown, which the target takes."""
    target = with_hooks("adam", gradient=finite)
    verdict = verdict_of(target, "adam")
    case = Case.from_json(shown_by(verdict)["case"])
    assert (verdict.verdict, case.size, len(case.grads)) == ("error", 1, 1)
    with pytest.raises(TargetFault, match="FloatingPointError: NaN"):
        trajectory(target, case, Guard())


@pytest.mark.parametrize("dialect", SCRIPTED, ids=label)
def test_the_script_of_a_counterexample_runs_with_numpy_alone(dialect: Dialect, tmp_path: Path) -> None:
    script = tmp_path / "counterexample.py"
    shown = shown_by(verdict_of(computing(dialect), dialect.optimizer, "float32", WITHOUT_LAWS))
    script.write_text(shown["script"], encoding="utf-8")
    assert "optimetry" not in shown["script"]
    ran = subprocess.run([sys.executable, "-I", "-W", "error", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "differ by more than rounding can explain" in ran.stdout


def test_the_counterexample_to_a_kept_buffer_is_small_and_replays() -> None:
    fault = FAULTS["velocity_is_the_gradient_buffer"]
    case = Case.from_json(shown_by(judged(fault, "float32"))["case"])
    assert (len(case.grads), len(case.parameters), case.size) == (2, 1, 1)
    with pytest.raises(TargetFault, match="keeps the array of gradient 0 instead of its contents"):
        hold_contents(fault.target(), case, Guard())
