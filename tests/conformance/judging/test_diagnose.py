"""Diagnosis: the right name with all its axes, the right arithmetic, and where a nameless target goes wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.counterexamples.divergence import first_divergence
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.known.points import classes_of, documented_class
from optimetry.conformance.naming.known.probes import APART, probes_of
from optimetry.conformance.naming.runs.surviving import FRESH
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.accuracy_tables import figure
from optimetry.reports.results import Computes
from tests.conformance.judged import FEW, NAMED, class_named, diagnosed, label, verdict_of

WRAPPED = [dialect for dialect in NAMED if not dialect.point]


def text_of(target: Any, optimizer: str, *dtypes: str) -> str:
    diagnoses = [x for dtype in dtypes for x in diagnose(engines_of(target), optimizer, dtype, effort=FEW, seed=0)]
    return report(f"{target.name} {target.version}: {optimizer}", diagnoses, 0)


def stepping(step: Any) -> Instead:
    """The reference with another step, a function of its own step, the gradients and the learning rate."""

    def begin(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(documented, parameters)
        plain = run.step
        run.step = lambda grads, rate: step(plain, grads, rate)
        return run

    return Instead(begin)


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "clip_by_norm", "torch.adamw"])
def test_the_reference_conforms(optimizer: str) -> None:
    diagnosis = diagnosed(NumpyTarget(), optimizer)
    assert diagnosis.verdict.verdict == "conforms"
    assert diagnosis.explanation == Explanation(documented_class(optimizer))
    assert diagnosis.verdict.cases == FEW.cases
    for point_class, agreement in diagnosis.ranking[1:]:
        assert agreement.share >= APART, f"{point_class.name} must be ten times the slack away"


@pytest.mark.parametrize(
    ("optimizer", "name", "dtype"),
    [
        ("adam", "scaled_epsilon", "float32"),
        ("adam", "epsilon_placement=inside, decay=with_lr", "float64"),
        ("adam", "correction_count=t+1, moments=old, amsgrad=before_correction", "float32"),
        ("lamb", "bias_corrected_zero_decay_ratio_one", "float64"),
        ("lamb", "decay_placement=before_ratio, zero_norm=unguarded", "float32"),
        ("ftrl", "l2_term=single, initial_value=0.1", "float64"),
        ("rmsprop", "epsilon_and_learning_rate_outside", "float32"),
        ("momentum", "dampening=always, nesterov_sign=minus", "float64"),
        ("lars_momentum", "denominator=norm_of_sum, zero_decay=plain_rate", "float32"),
        ("asgd", "decay_in_history", "float64"),
    ],
)
def test_a_member_of_a_family_is_named_with_its_axes(optimizer: str, name: str, dtype: str) -> None:
    point_class = class_named(optimizer, name)
    diagnosis = diagnosed(computing(point_class), optimizer, dtype)
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect) == ("dialect", name)
    assert (diagnosis.explanation, diagnosis.nearest) == (Explanation(point_class), point_class)
    assert diagnosis.verdict.computes == Computes(
        name, point_class.difference, same_as=diagnosis.verdict.computes.same_as
    )
    assert diagnosis.ranking[0][1].share <= SLACK
    assert diagnosis.ranking[1][1].share >= APART
    text = report("x", [diagnosis], 0)
    for axis, value in point_class.differences:
        row = next(line for line in text.splitlines() if line.startswith(">") and axis.name in line)
        assert axis.values[axis.documented].split()[0] in row
        assert axis.values[value].split()[0] in row


@pytest.mark.parametrize("dialect", WRAPPED, ids=label)
def test_a_formula_of_its_own_is_named_with_where_it_is_known_from(dialect: Dialect) -> None:
    diagnosis = diagnosed(computing(dialect), dialect.optimizer, "float32")
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect) == ("dialect", dialect.name)
    assert diagnosis.explanation == Explanation(class_named(dialect.optimizer, dialect.name))
    text = report("x", [diagnosis], 0, width=200)
    assert f"float32: ANOTHER RULE, {dialect.name}" in text
    for words in (f"computed by: {dialect.origin}", f"formula: {dialect.difference}", dialect.reference):
        assert words in text


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_formats_are_diagnosed_too(dtype: str) -> None:
    cases = replace(FEW, cases=30)  # a decay of a hundredth is below the roundoff of most
    (diagnosis,) = diagnose(
        engines_of(computing(class_named("adam", "uncorrected"))), "adam", dtype, effort=cases, seed=0
    )
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect) == ("dialect", "uncorrected")


def test_a_rule_that_the_drawn_cases_do_not_show_is_rejected_by_the_probes() -> None:
    def disguised(documented: Any, parameters: list[Array]) -> Any:
        """Another rule, in the probes alone."""
        probe = any(np.array_equal(parameters[0], case.parameters[0]) for case in probes_of("adagrad", "float32"))
        return run_of(
            class_named("adagrad", "epsilon_inside").of(documented.hyper()) if probe else documented, parameters
        )

    diagnosis = diagnosed(Instead(disguised), "adagrad")
    assert (diagnosis.verdict.verdict, diagnosis.explanation) == ("diverges", None)


def test_check_gives_the_same_name() -> None:
    point_class = class_named("adam", "epsilon_placement=inside, decay=with_lr")
    verdict = verdict_of(computing(point_class), "adam", "float32", FEW)
    assert (verdict.verdict, verdict.dialect) == ("dialect", point_class.name)
    assert "sqrt(v + eps)" in verdict.reason


def test_state_that_outlives_its_run_is_named() -> None:
    diagnosis = diagnosed(FAULTS["remembers_the_last_run"].target(), "exponential_moving_average")
    assert diagnosis.verdict.verdict == "diverges"
    assert FAULTS["remembers_the_last_run"].because in diagnosis.verdict.reason


def test_runs_that_differ_without_state_are_not_named_after_it() -> None:
    """Of every two runs of a few elements one has twice the learning rate; those that would show state are alike."""
    runs = count()

    def begin(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(documented, parameters)
        plain, factor = run.step, 2 if next(runs) % 2 and sum(x.size for x in parameters) < FRESH else 1
        run.step = lambda grads, rate: plain(grads, factor * rate)
        return run

    diagnosis = diagnosed(Instead(begin), "sgd")
    assert diagnosis.verdict.verdict == "diverges"
    assert diagnosis.verdict.law == "repeatable"
    assert "state" not in diagnosis.verdict.reason


def test_what_is_declared_nowhere_is_located_in_a_slot() -> None:
    fault = FAULTS["decayed_adagrad_square_missing"]
    diagnosis = diagnosed(fault.target(), "decayed_adagrad")
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect, diagnosis.explanation) == ("dialect", "found", None)
    assert diagnosis.verdict.computes == Computes(None, "square(grad) -> abs(grad)", True)
    assert diagnosis.effect is not None
    assert diagnosis.effect > 1e-3
    assert diagnosis.divergence is not None
    assert (diagnosis.divergence.slot, diagnosis.divergence.step) == ("moment", 1)
    assert diagnosis.divergence.compared == ("moment",)
    text = text_of(fault.target(), "decayed_adagrad", "float32")
    assert "ANOTHER RULE, which is declared nowhere: found by search" in text
    assert "documented  moment <- decay*moment + (1 - decay)*square(grad)" in text
    assert "found       moment <- decay*moment + (1 - decay)*abs(grad)" in text
    assert "decayed_adagrad float32 dialect:found square(grad) -> abs(grad)" in text
    assert "does not compute its document, fluid.optimizer.DecayedAdagradOptimizer (page 000 of PaddlePaddle's " in text
    assert f"parameters differ by {figure(diagnosis.effect)} times the distance that they have moved" in text
    assert "first divergence at step 1 in slot moment" in text
    assert "smallest counterexample found: 1 step, 1 tensor, 1 element" in text
    assert "learning rates" in text


def test_without_state_the_parameter_is_located() -> None:
    def stateless(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(point_class.of(documented.hyper()), parameters)
        return type("Run", (), {"step": staticmethod(run.step)})()

    point_class, case = class_named("momentum", "dampened_after_first_step"), probes_of("momentum", "float64")[0]
    divergence = first_divergence(Instead(stateless), case, documented_class("momentum").of(case.hyper), Guard())
    assert divergence is not None
    assert (divergence.slot, divergence.step, divergence.compared) == ("parameter", 2, ())
    assert first_divergence(Instead(stateless), case, point_class.of(case.hyper), Guard()) is None


def test_a_slot_that_is_a_plain_number_at_first_is_compared_once_it_has_a_shape() -> None:
    """Adan's average of changes is the number 0 after the first step."""
    case = probes_of("papers.adan", "float64")[0]

    def slower(documented: Any, parameters: list[Array]) -> Any:
        return run_of(replace(documented, beta3=documented.beta3 / 2), parameters)

    found = first_divergence(Instead(slower), case, documented_class("papers.adan").of(case.hyper), Guard())
    assert found is not None
    assert (found.slot, found.step) == ("n", 2)


def test_a_found_formula_is_reported_though_the_target_fails_behind_its_verdict(monkeypatch: Any) -> None:
    def failing(*arguments: Any) -> Any:
        raise TargetFault("hung")

    monkeypatch.setattr("optimetry.conformance.judging.diagnose.first_divergence", failing)
    text = text_of(FAULTS["decayed_adagrad_square_missing"].target(), "decayed_adagrad", "float32")
    assert "ANOTHER RULE, which is declared nowhere: found by search" in text
    assert "first divergence" not in text


def test_a_wrapper_is_located_in_what_it_returns() -> None:
    diagnosis = diagnosed(FAULTS["sum_of_norms"].target(), "clip_by_global_norm")
    assert (diagnosis.verdict.verdict, diagnosis.explanation, diagnosis.ranking) == ("diverges", None, ())
    assert diagnosis.divergence is not None
    assert (diagnosis.divergence.slot, diagnosis.divergence.step, diagnosis.divergence.compared) == ("parameter", 1, ())
    assert abs(diagnosis.divergence.given - diagnosis.divergence.expected) > diagnosis.divergence.allowed
    assert "first divergence at step 1 in the parameter" in report("x", [diagnosis], 0)


def test_the_first_divergence_is_from_the_nearest_class_which_need_not_be_the_documented_one() -> None:
    nearest = class_named("adam", "scaled_epsilon")

    def begin(documented: Any, parameters: list[Array]) -> Any:
        """Another rule, whose results are a thousandth too large from the third step on."""
        run: Any = run_of(nearest.of(documented.hyper()), parameters)
        plain, taken = run.step, []

        def step(grads: list[Array | None], rate: float) -> list[Array]:
            taken.append(None)
            after: list[Array] = plain(grads, rate)
            return [x * x.dtype.type(1.001) for x in after] if len(taken) > 2 else after

        run.step = step
        return run

    diagnosis = diagnosed(Instead(begin), "adam")
    assert (diagnosis.verdict.verdict, diagnosis.nearest) == ("diverges", nearest)
    assert diagnosis.divergence is not None
    assert (diagnosis.divergence.slot, diagnosis.divergence.step, diagnosis.divergence.element) == ("parameter", 3, 3)
    assert diagnosis.divergence.given == pytest.approx(1.001 * diagnosis.divergence.expected, rel=1e-6)


def test_what_conforms_in_the_probes_is_not_said_to_compute_in_float32() -> None:
    probed = [case.parameters[0] for case in probes_of("adagrad", "float64")]

    def begin(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(documented, parameters)
        plain = run.step
        if not any(np.array_equal(parameters[0], probe) for probe in probed):
            run.step = lambda grads, rate: [x * 1.001 for x in plain(grads, rate)]
        return run

    diagnosis = diagnosed(Instead(begin), "adagrad", "float64")
    assert (diagnosis.verdict.verdict, diagnosis.nearest) == ("diverges", documented_class("adagrad"))
    assert diagnosis.ranking[0][1].conforms
    assert "in float32 arithmetic" not in diagnosis.verdict.reason
    assert diagnosis.divergence is not None, "in the counterexample, as the probes show none"
    assert diagnosis.verdict.counterexample is not None
    assert diagnosis.divergence.case.to_json() == diagnosis.verdict.counterexample["case"]


def test_slots_that_agree_are_said_to() -> None:
    off = stepping(lambda plain, grads, rate: [x * x.dtype.type(1.001) for x in plain(grads, rate)])
    assert "in the parameter, while moment agrees" in text_of(off, "adagrad", "float32")


def test_float32_arithmetic_beside_float64_is_recognized() -> None:
    class Single(NumpyTarget):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, [param.astype(np.float32) for param in parameters])
            plain = run.step
            run.step = lambda grads, rate: [  # type: ignore[method-assign]
                x.astype(np.float64) for x in plain([None if g is None else g.astype(np.float32) for g in grads], rate)
            ]
            return run

    diagnosis = diagnosed(Single(), "decayed_adagrad", "float64")
    assert diagnosis.verdict.verdict == "diverges"
    assert "no better than the documented rule in float32 arithmetic" in report("x", [diagnosis], 0)


def test_whoever_breaks_a_law_of_every_rule_has_no_name() -> None:
    class Unsteady(NumpyTarget):
        runs = 0  # every third of which is another rule

        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            self.runs += 1
            point_class = classes_of(optimizer)[1 if self.runs > 12 and self.runs % 3 == 0 else 0]
            return run_of(point_class.of(hyper), parameters)

    diagnosis = diagnosed(Unsteady(), "momentum")
    assert (diagnosis.verdict.verdict, diagnosis.explanation) == ("diverges", None)
    assert LAWS[str(diagnosis.verdict.law)].universal


def test_engines_of_one_finding_share_a_section() -> None:
    class Three(NumpyTarget):
        def engines(self) -> list[Any]:
            rules = class_named("adagrad", "epsilon_inside"), documented_class("adagrad")
            return [NumpyTarget(), *(computing(rule, rule.name) for rule in rules)]

    text = text_of(Three(), "adagrad", "float32", "float64")
    assert text.count("CONFORMS") == text.count("ANOTHER RULE") == 1
    assert "float32 and float64, engines default, documented: CONFORMS" in text
    assert "float32 and float64, engine epsilon_inside: ANOTHER RULE, epsilon_inside" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_what_is_not_offered_is_told_with_its_reason() -> None:
    class Refuses(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str:
            return f"no {optimizer} here"

    assert text_of(Refuses(), "sgd", "float32").splitlines()[2:] == ["float32: not offered", "  no sgd here"]
