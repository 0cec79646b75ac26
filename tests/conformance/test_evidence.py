"""Counterexamples: small cases that replay, and scripts that say the document's formula and need NumPy alone."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.script import RULE_LOOP, WRAPPER_LOOP
from optimetry.conformance.judging.source import formula
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.selftest.sensitivity import judged
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Verdict
from tests.conformance.judged import NAMED, dialect_named, label, verdict_of

WITHOUT_LAWS = Effort("quick, without laws", 60, 0)
OF_WRAPPERS = [dialect for dialect in NAMED if not isinstance(SUBJECTS[dialect.optimizer], RuleSubject)]
OF_RULES = [("adam", "amsgrad"), ("lamb", "bias_corrected"), ("ftrl", "l1_for_l2"), ("asgd", "decay_in_history")]
SCRIPTED = [*(dialect_named(*pair) for pair in OF_RULES), *OF_WRAPPERS]


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


@pytest.mark.parametrize("dialect", SCRIPTED, ids=label)
def test_the_script_of_a_counterexample_runs_with_numpy_alone(dialect: Dialect, tmp_path: Path) -> None:
    dtype = dialect.dtypes[0] if dialect.dtypes else "float32"
    script = tmp_path / "counterexample.py"
    shown = shown_by(verdict_of(computing(dialect), dialect.optimizer, dtype, WITHOUT_LAWS))
    script.write_text(shown["script"], encoding="utf-8")
    assert "optimetry" not in shown["script"]
    ran = subprocess.run([sys.executable, "-I", "-W", "error", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "differ by more than rounding can explain" in ran.stdout


class Double:
    """Numbers as a script without a wider format would have them."""

    def array(self, array: Any) -> Any:
        return np.asarray(array, np.float64)

    def scalar(self, name: str, number: float) -> Any:
        return np.float64(number)


def run_by_formula(case: Case) -> list[list[Any]]:
    """What the text of the formula gives, run by the text of the script's loop."""
    subject = SUBJECTS[case.optimizer]
    is_rule = isinstance(subject, RuleSubject)
    text = formula(subject.declaration, *(("initial_state", "update") if is_rule else ("feed",)))
    assert "optimetry" not in text
    inside: dict[str, Any] = {
        "np": np,
        "wide": np.float64,
        "array": lambda values: np.asarray(values, np.float64),
        "parameters": case.parameters,
        "learning_rates": case.learning_rates,
        "grads": case.grads,
        "fed": case.grads,
    }
    exec(compile(text, f"the formula of {case.optimizer}", "exec"), inside)
    hyper = {name: np.float64(x) if isinstance(x, float) else x for name, x in case.hyper.items()}
    given = {"slots": subject.declaration.slots} if isinstance(subject, RuleSubject) else {}
    inside["documented"] = inside["Documented"](**hyper, **given)
    exec(compile(RULE_LOOP if is_rule else WRAPPER_LOOP, "the loop", "exec"), inside)
    return [[np.array(array) for array in arrays] for arrays in inside["steps"]()]


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_the_text_of_a_formula_computes_what_the_subject_does_bit_for_bit(optimizer: str) -> None:
    subject, compared = SUBJECTS[optimizer], 0
    with np.errstate(all="ignore"):
        for case in drawn_cases(subject, "float64", seed=4, count=25):
            found = run_by_formula(case)
            must = [[np.array(array) for array in arrays] for arrays in subject.trajectory(case, Double())]
            assert len(found) == len(must) == len(case.grads)
            for a, b in zip(chain(*found), chain(*must), strict=True):
                assert (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())
                compared += a.size
    assert compared > 1000


def test_the_counterexample_to_a_kept_buffer_is_small_and_replays() -> None:
    fault = FAULTS["velocity_is_the_gradient_buffer"]
    case = Case.from_json(shown_by(judged(fault, "float32"))["case"])
    assert (len(case.grads), len(case.parameters), case.size) == (2, 1, 1)
    with pytest.raises(TargetFault, match="keeps the array of gradient 0 instead of its contents"):
        hold_contents(fault.target(), case, Guard())
