"""Diagnosis: the right name with all its axes, the right cause, and where a nameless target goes wrong."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.diagnose import PROCESSES, shares
from optimetry.conformance.commands.diagnosis_text import report
from optimetry.conformance.judging.diagnose import Diagnosis, diagnose
from optimetry.conformance.judging.divergence import first_divergence
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.points import PointClass, classes_of
from optimetry.conformance.naming.precision import to_float32
from optimetry.conformance.naming.probes import APART, probes_of
from optimetry.conformance.naming.rounding import Rounded, rounded_numbers
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.confusion import ClassTarget, class_verdict
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rules import RULES, rule_named

QUICK = EFFORTS["quick"]
FEW = Effort("few", 16, 1)


def diagnosed(target: Any, optimizer: str, dtype: str = "float32") -> Diagnosis:
    (found,) = diagnose(target, optimizer, dtype, effort=QUICK, seed=0)
    return found


def text_of(target: Any, optimizer: str, *dtypes: str) -> str:
    found = [each for dtype in dtypes for each in diagnose(target, optimizer, dtype, effort=QUICK, seed=0)]
    return report(f"{target.name} {target.version}: {optimizer}", found, 0)


def named(optimizer: str, name: str) -> PointClass:
    return next(one for one in classes_of(optimizer) if one.name == name)


class Stateless(NumpyTarget):
    """Computes a class of rules, and shows no state."""

    def __init__(self, one: PointClass) -> None:
        self.one = one

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        run = RuleRun(self.one.of(hyper), parameters)
        return type("Run", (), {"step": staticmethod(run.step)})()


class Rounding(NumpyTarget):
    """Holds numbers of a class of rules in float32."""

    def __init__(self, one: PointClass, *names: str) -> None:
        self.one, self.names = one, names

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
        rule = self.one.of(hyper).lifted(lambda name, x: to_float32(x) if name in self.names else x)
        run = RuleRun(rule, parameters)
        plain = run.step
        if "learning_rate" in self.names:
            run.step = lambda grads, rate: plain(grads, to_float32(rate))  # type: ignore[method-assign]
        return run


@pytest.mark.parametrize("optimizer", RULES)
def test_the_reference_conforms(optimizer: str) -> None:
    found = diagnosed(NumpyTarget(), optimizer)
    assert (found.verdict.verdict, found.causes) == ("conforms", ("rounding",))
    assert found.found is classes_of(optimizer)[0]
    assert found.drawn == QUICK.cases // 8
    if found.next_best is not None:
        assert found.next_best[1].share >= APART, "what is nearest beside it must be ten times the slack away"


@pytest.mark.parametrize(
    ("optimizer", "name"),
    [
        ("adam", "scaled_epsilon"),
        ("adam", "epsilon_placement=inside, decay=with_lr"),
        ("adam", "correction_count=t+1, moments=old, amsgrad=before_correction"),
        ("lamb", "bias_corrected_zero_decay_ratio_one"),
        ("lamb", "param_norm=clamped, zero_norm=unguarded"),
        ("ftrl", "l2_term=single, initial_value=0.1"),
        ("rmsprop", "epsilon_and_learning_rate_outside"),
        ("momentum", "dampening=always, nesterov_sign=minus"),
        ("lars_momentum", "denominator=norm_of_sum, zero_decay=plain_rate"),
        ("asgd", "decay_in_history"),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_member_of_a_family_is_named_with_its_axes(optimizer: str, name: str, dtype: str) -> None:
    one = named(optimizer, name)
    found = diagnosed(ClassTarget(one), optimizer, dtype)
    assert (found.verdict.verdict, found.verdict.dialect) == ("dialect", name)
    assert (found.found, found.causes, found.nearest) == (one, ("another rule",), one)
    assert found.ranking[0][1].share <= SLACK
    assert found.next_best is not None
    assert found.next_best[1].share >= APART
    text = text_of(ClassTarget(one), optimizer, dtype)
    for axis, value in one.differences:
        row = next(line for line in text.splitlines() if line.startswith(">") and axis.name in line)
        assert axis.values[axis.documented].split()[0] in row
        assert axis.values[value].split()[0] in row


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_formats_are_diagnosed_too(dtype: str) -> None:
    found = diagnosed(ClassTarget(named("adam", "uncorrected")), "adam", dtype)
    assert (found.verdict.verdict, found.verdict.dialect) == ("dialect", "uncorrected")


def test_a_rule_that_the_drawn_cases_do_not_show_is_rejected_by_the_probes() -> None:
    class Disguised(ClassTarget):
        """Is another rule in four steps alone, as no drawn case has them."""

        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
            probe = any(np.array_equal(parameters[0], case.parameters[0]) for case in probes_of(optimizer, "float32"))
            return (
                super().start(optimizer, hyper, parameters)
                if probe
                else NumpyTarget().start(optimizer, hyper, parameters)
            )

    found = diagnosed(Disguised(named("adagrad", "epsilon_inside")), "adagrad")
    assert (found.verdict.verdict, found.found) == ("diverges", None)


def test_check_gives_the_same_name() -> None:
    one = named("adam", "epsilon_placement=inside, decay=with_lr")
    verdict = class_verdict(one, "float32", FEW)
    assert (verdict.verdict, verdict.dialect) == ("dialect", one.name)
    assert "sqrt(v + eps)" in verdict.reason


@pytest.mark.parametrize("names", [("beta2",), ("beta1", "epsilon"), ("beta1", "beta2", "epsilon", "learning_rate")])
def test_numbers_held_in_float32_are_told_from_another_rule(names: tuple[str, ...]) -> None:
    found = diagnosed(Rounding(classes_of("adam")[0], *names), "adam", "float64")
    assert (found.verdict.verdict, found.causes) == ("dialect", ("float32",))
    assert found.found is classes_of("adam")[0]
    assert found.rounded == Rounded(throughout=names)
    assert diagnosed(Rounding(classes_of("adam")[0], *names), "adam", "float32").verdict.verdict == "conforms"


@pytest.mark.parametrize("name", ["scaled_epsilon", "epsilon_placement=inside, decay=with_lr"])
def test_another_rule_may_have_numbers_in_float32_as_well(name: str) -> None:
    found = diagnosed(Rounding(named("adam", name), "beta1"), "adam", "float64")
    assert (found.verdict.dialect, found.causes) == (f"{name}+float32", ("another rule", "float32"))
    assert (found.found, found.rounded) == (named("adam", name), Rounded(throughout=("beta1",)))


def test_a_number_rounded_in_one_of_its_uses_is_found() -> None:
    class Partly(NumpyTarget):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
            class Once(float):
                """Is rounded where it is subtracted from 1 alone."""

                def __rsub__(self, other: Any) -> Any:
                    return other - to_float32(self)

            rule = rule_named(optimizer).of(hyper).lifted(lambda name, x: Once(x) if name == "rho" else x)
            return RuleRun(rule, parameters)

    rule = rule_named("rmsprop").of
    assert rounded_numbers(Partly(), "rmsprop", rule, Guard()) == Rounded(in_some_uses=("rho",))
    found = diagnosed(Partly(), "rmsprop", "float64")
    assert (found.verdict.dialect, str(found.rounded)) == (
        "float32_in_some_uses",
        "rho held in float32 in some uses",
    )


def test_what_nothing_explains_is_located_in_a_slot() -> None:
    found = diagnosed(FAULTS["adam_square_missing"].target(), "adam")
    assert (found.verdict.verdict, found.found) == ("diverges", None)
    assert found.divergence is not None
    assert (found.divergence.slot, found.divergence.step) == ("moment2", 1)
    assert set(found.divergence.compared) >= {"moment1", "moment2"}
    text = text_of(FAULTS["adam_square_missing"].target(), "adam", "float32")
    assert "DIVERGES" in text
    assert "leaves it first at step 1 in slot moment2" in text
    assert "smallest counterexample found: 1 step, 1 tensor, 1 element" in text
    assert "learning rates" in text


def test_without_state_the_parameter_is_located() -> None:
    one, case = named("momentum", "dampened_after_first_step"), probes_of("momentum", "float64")[0]
    found = first_divergence(Stateless(one), case, rule_named("momentum").of(case.hyper), Guard())
    assert found is not None
    assert (found.slot, found.step, found.compared) == ("parameter", 2, ())
    assert first_divergence(Stateless(one), case, one.of(case.hyper), Guard()) is None


def test_slots_that_agree_are_said_to() -> None:
    class LastBit(NumpyTarget):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)
            plain = run.step
            run.step = lambda grads, rate: [x * x.dtype.type(1.001) for x in plain(grads, rate)]  # type: ignore[method-assign]
            return run

    text = text_of(LastBit(), "adagrad", "float32")
    assert "in the parameter, while moment agrees" in text


def test_float32_arithmetic_beside_float64_is_recognized() -> None:
    class Single(NumpyTarget):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, [param.astype(np.float32) for param in parameters])
            plain = run.step
            run.step = lambda grads, rate: [  # type: ignore[method-assign]
                x.astype(np.float64) for x in plain([None if g is None else g.astype(np.float32) for g in grads], rate)
            ]
            return run

    found = diagnosed(Single(), "decayed_adagrad", "float64")
    assert (found.verdict.verdict, found.in_float32) == ("diverges", True)
    assert "no better than documented in float32 arithmetic" in text_of(Single(), "decayed_adagrad", "float64")


def test_whoever_breaks_a_law_of_every_rule_has_no_name() -> None:
    class Unsteady(NumpyTarget):
        """Every third run is another rule."""

        runs = 0

        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> RuleRun:
            self.runs += 1
            one = classes_of(optimizer)[1 if self.runs > 12 and self.runs % 3 == 0 else 0]
            return RuleRun(one.of(hyper), parameters)

    found = diagnosed(Unsteady(), "momentum")
    assert (found.verdict.verdict, found.found) == ("diverges", None)
    assert any(law.statement in found.verdict.reason for law in LAWS.values() if law.universal)


def test_engines_of_one_finding_share_a_section() -> None:
    class Engine(ClassTarget):
        @property
        def engine(self) -> str:
            return self.one.name

    class Three(NumpyTarget):
        def engines(self) -> list[Any]:
            return [NumpyTarget(), Engine(named("adagrad", "epsilon_inside")), Engine(classes_of("adagrad")[0])]

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


def test_the_largest_family_takes_a_few_seconds() -> None:
    before = time.process_time()
    diagnosed(ClassTarget(named("adam", "scaled_epsilon")), "adam", "float64")
    assert time.process_time() - before < 10


@pytest.mark.parametrize("engines", [1, 2, 3, 7])
@pytest.mark.parametrize("dtypes", [1, 2, 4])
def test_processes_share_out_all_there_is_and_no_engine_runs_in_two(engines: int, dtypes: int) -> None:
    parts = [shares(engines, dtypes, part) for part in range(PROCESSES)]
    assert sorted(place for part in parts for place in part) == [(i, j) for i in range(dtypes) for j in range(engines)]
    if engines > 1:
        first, second = ({j for _, j in part} for part in parts)
        assert not first & second


@pytest.mark.usefixtures("miniatures")
def test_engines_and_dtypes_are_reported_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "miniatures:TwoEngines", "--optimizer", "sgd"]) == 0
    out = capfd.readouterr().out
    assert "float32 and float64, engine plain: CONFORMS" in out
    assert out.index("float32 and float64, engine plain") < out.index("float32 and float64, engine fast: not offered")


@pytest.mark.usefixtures("miniatures")
def test_the_command_prints_a_report_and_says_by_its_status_whether_it_conforms(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["diagnose", "miniatures:Shouts", "--optimizer", "sgd", "--dtype", "float32"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("miniature 1.0: sgd\n\nfloat32: CONFORMS")
    assert "noise" not in out
    assert main(["diagnose", "miniatures:Uphill", "--optimizer", "sgd", "--dtype", "float32"]) == 1
    assert "DIVERGES" in capfd.readouterr().out
    assert main(["diagnose", "miniatures:Crashes", "--optimizer", "sgd", "--dtype", "float32"]) == 1
    assert "its process ended in the middle of a run" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["numpy"], "--optimizer"),
        (["numpy", "--optimizer", "adm"], "did you mean adam?"),
        (["numpy", "--optimizer", "adam", "--dtype", "float31"], "unknown dtype 'float31'"),
        (["numpy", "--optimizer", "adam", "--seed", "x"], "--seed = 'x'"),
        (["nupy", "--optimizer", "adam", "--dtype", "float32"], "unknown target 'nupy'"),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
