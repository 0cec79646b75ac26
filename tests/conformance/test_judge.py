"""The judge: verdicts, their reasons, and counterexamples that stand alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, SLACK, Expected, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.protocol import Hyper, engines_of
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

QUICK = EFFORTS["quick"]


class DialectTarget(NumpyTarget):
    """Computes one named dialect in working precision."""

    name = "dialect"

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
        named = [dialect for dialect in DIALECTS[optimizer] if dialect.name == self.dialect]
        return RuleRun(named[0].of(hyper), parameters) if named else super().start(optimizer, hyper, parameters)


class OneElementWrong(NumpyTarget):
    """The documented rule, but the fifth element of a step is off by a millionth."""

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        run = super().start(optimizer, hyper, parameters)
        plain = run.step

        def step(grads: list[Array | None], learning_rate: float) -> list[Array]:
            after = plain(grads, learning_rate)
            for array in after:
                if array.size > 4:
                    array.flat[4] *= array.dtype.type(1.000001)
            return after

        run.step = step  # type: ignore[method-assign]
        return run


def verdict_of(target: Any, optimizer: str, dtype: str = "float32", effort: Effort = QUICK) -> Verdict:
    (verdict,) = judge(engines_of(target), optimizer, dtype, effort=effort, seed=0)
    return verdict


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("optimizer", RULES)
def test_the_reference_conforms_in_working_precision(optimizer: str, dtype: str) -> None:
    verdict = verdict_of(NumpyTarget(), optimizer, dtype)
    assert (verdict.verdict, verdict.reason) == ("conforms", "")
    assert verdict.share is not None
    assert verdict.share <= 1, "the rule's own order of operations needs no slack"
    assert verdict.cases == QUICK.cases
    assert verdict.vacuous < (0.1 if dtype in ("float32", "float64") else 0.5)


def test_a_dialect_is_named_with_its_formula_and_a_counterexample() -> None:
    verdict = verdict_of(DialectTarget("scaled_epsilon"), "adam")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "scaled_epsilon")
    assert "sqrt(1-b2^t)" in verdict.reason
    assert verdict.share is not None
    assert verdict.share > 100 * SLACK
    assert verdict.counterexample is not None


def test_what_nothing_explains_diverges() -> None:
    verdict = verdict_of(OneElementWrong(), "sgd")
    assert (verdict.verdict, verdict.dialect) == ("diverges", None)


def test_the_same_seed_gives_the_same_verdict_and_counterexample() -> None:
    first, second = (judge(DialectTarget("nesterov"), "rmsprop", "float64", effort=QUICK, seed=7) for _ in range(2))
    assert first == second


def test_counterexamples_are_small_and_replay() -> None:
    verdict = verdict_of(DialectTarget("scaled_epsilon"), "adam")
    assert verdict.counterexample is not None
    case = Case.from_json(verdict.counterexample["case"])
    assert (len(case.grads), len(case.parameters), case.size) == (1, 1, 1)
    after = trajectory(DialectTarget("scaled_epsilon"), case, Guard())
    assert not compare(after, expected(case), case.form).conforms
    assert json.loads(json.dumps(verdict.counterexample)) == verdict.counterexample


@pytest.mark.parametrize(
    ("optimizer", "dialect"), [("adam", "amsgrad"), ("lamb", "bias_corrected"), ("ftrl", "l1_for_l2")]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_script_of_a_counterexample_runs_with_numpy_alone(
    optimizer: str, dialect: str, dtype: str, tmp_path: Path
) -> None:
    verdict = verdict_of(DialectTarget(dialect), optimizer, dtype)
    assert verdict.counterexample is not None
    script = tmp_path / "counterexample.py"
    script.write_text(verdict.counterexample["script"])
    assert "optimetry" not in script.read_text()
    ran = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "more than rounding can explain" in ran.stdout


def test_an_engine_that_offers_nothing_is_unsupported() -> None:
    class Refuses(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str:
            return f"no {optimizer} here"

    verdict = verdict_of(Refuses(), "sgd")
    assert (verdict.verdict, verdict.reason, verdict.cases) == ("unsupported", "no sgd here", 0)


def test_every_engine_is_judged_apart() -> None:
    class Engine(DialectTarget):
        engine = "other"

    class Two(NumpyTarget):
        def engines(self) -> list[Any]:
            return [NumpyTarget(), Engine("epsilon_inside")]

    first, second = judge(engines_of(Two()), "adagrad", "float32", effort=QUICK, seed=0)
    assert (first.verdict, first.engine) == ("conforms", "default")
    assert (second.verdict, second.dialect, second.engine) == ("dialect", "epsilon_inside", "other")


def test_only_vacuous_elements_are_no_pass() -> None:
    """An element whose bound is not finite is counted and reported, never silently passed."""
    form = FORMATS["float32"]
    nothing_known = Expected(np.ones((2, 3)), np.full((2, 3), np.inf), np.ones(3))
    agreement = compare(np.full((2, 3), np.nan, np.float32), nothing_known, form)
    assert (agreement.vacuous, agreement.elements, agreement.share) == (6, 6, 0.0)

    class Epsilonless(NumpyTarget):
        """Offers only what cannot be judged."""

        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
            return None if hyper["epsilon"] < 1e-7 else "only a vanishing epsilon"

    verdict = verdict_of(Epsilonless(), "lamb", "float16")
    assert verdict.verdict != "conforms"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_nan_where_the_rule_is_finite_is_as_far_as_can_be(bad: float) -> None:
    oracle = Expected(np.ones((1, 2)), np.full((1, 2), 1e-7), np.ones(2))
    agreement = compare(np.array([[1, bad]], np.float32), oracle, FORMATS["float32"])
    assert (agreement.share, agreement.worst) == (LARGEST_SHARE, (0, 1))


def test_shrinking_never_leaves_the_failing_cases() -> None:
    """Shrinks to one element and one step where that is all that fails, and calls `fails` on smaller cases only."""
    case = next(
        case
        for case in drawn_cases(subject_named("adam"), "float32", seed=3, count=40)
        if len(case.grads) > 10 and case.size > 50
    )
    calls: list[Case] = []

    def fails(smaller: Case) -> bool:
        calls.append(smaller)
        return any(param.size and float(np.abs(param).max()) >= 1 for param in smaller.parameters)

    small = shrunk(case, fails)
    assert fails(small)
    assert (len(small.grads), len(small.parameters), small.size) == (1, 1, 1)
    assert all(smaller.size <= case.size and len(smaller.grads) <= len(case.grads) for smaller in calls)
