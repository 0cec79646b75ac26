"""`optimetry accuracy`: targets whose error is known."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.cases import ordinary
from optimetry.conformance.commands import accuracy as command
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.judging.accuracy import STEPS, accuracy
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetHung
from optimetry.reports.accuracy import LARGEST
from optimetry.reports.results import read


class Changed(NumpyTarget):
    """The reference, with a function in place of each step: it gets the reference's run, the gradients and the rate."""

    def __init__(self, change):
        self.change = change

    def start(self, optimizer, hyper, parameters):
        run, change = super().start(optimizer, hyper, parameters), self.change

        class Run:
            def step(self, grads, learning_rate):
                return change(run, grads, learning_rate)

        return Run()


def measured(target, optimizer="sgd", dtype="float64", gradients="normal", steps=30):
    return accuracy(target, optimizer, dtype, gradients, steps, Guard())


@pytest.mark.parametrize("gradients", ordinary.KINDS)
def test_an_update_twice_as_long_is_off_by_all_of_it(gradients):
    record = measured(Changed(lambda run, grads, rate: run.step(grads, 2 * rate)), gradients=gradients)
    assert [point.step for point in record.points] == [1, 3, 10, 30]
    for point in record.points:
        assert [point.update.median, point.update.p99, point.update.largest] == pytest.approx([1, 1, 1], rel=1e-6)


@pytest.mark.parametrize(("dtype", "eps"), [("bfloat16", 2.0**-7), ("float32", 2.0**-23), ("float64", 2.0**-52)])
def test_an_error_of_eight_units_in_the_last_place(dtype, eps):
    def shifted(run, grads, rate):
        (param,) = run.step(grads, rate)
        unit = np.ldexp(eps, np.frexp(param.astype(float))[1] - 1)
        return [(param.astype(np.float64) + 8 * unit).astype(param.dtype)]

    ulp = measured(Changed(shifted), dtype=dtype, steps=1).points[0].ulp
    assert 7.5 <= ulp.median <= 8.5
    assert ulp.largest <= 9.5  # half a unit each for the product, the difference and the shift


def test_the_exact_rule_is_wider_than_float64():
    """Evaluated in float64 it would have the reference's own rounding, and the error of the reference would be none."""
    point = measured(NumpyTarget()).points[0]
    assert 0 < point.ulp.largest <= 1
    assert 0 < point.update.median < 1e-12


def test_a_parameter_that_is_lost_has_no_bound():
    def lost(run, grads, rate):
        (param,) = run.step(grads, rate)
        param[0] = np.nan
        return [param]

    point = measured(Changed(lost)).points[-1]
    assert point.update.largest == LARGEST
    assert point.update.median < 1e-9


def test_a_rule_of_norms_gets_tensors_and_another_one_row():
    accuracies = [measured(NumpyTarget(), rule, "float32") for rule in ("lamb", "adam")]
    assert [each.elements for each in accuracies] == [sum(map(np.prod, ordinary.SHAPES))] * 2
    assert all(each.points[-1].update.median < 1e-4 for each in accuracies)


def test_the_same_run_has_the_same_figures():
    first, second = (measured(NumpyTarget(), "adam", "float32", "training") for _ in range(2))
    assert first == second


def test_the_model_learns_and_its_last_gradients_come_again():
    parameters, grads = ordinary.training(ordinary.TRAINED + 2)
    assert [array.shape for array in parameters] == list(ordinary.SHAPES)
    assert len(grads) == ordinary.TRAINED + 2
    early, late = (np.mean([np.linalg.norm(step[0]) for step in part]) for part in (grads[:50], grads[-50:]))
    assert 0.1 * early < late < early
    assert grads[ordinary.TRAINED][0] is grads[ordinary.TRAINED // 2][0]


def test_what_is_not_offered_is_not_measured():
    target = NumpyTarget()
    target.unsupported = lambda optimizer, hyper, dtype: "no"
    assert measured(target) is None


def test_a_run_that_hangs_is_ended():
    def hangs(run, grads, rate):
        while True:
            pass

    with pytest.raises(TargetHung):
        accuracy(Changed(hangs), "sgd", "float32", "normal", 3, Guard(time_limit=0.05))


@pytest.mark.usefixtures("miniatures")
def test_the_command_adds_to_the_results_of_check(optimetry, tmp_path):
    quick = ("--optimizer", "sgd", "--dtype", "float32")
    optimetry("check", "miniatures:Correct", *quick, "--effort", "quick", "-n", 1, "--out", tmp_path)
    judged = read(tmp_path / "results.jsonl")
    for steps in (30, 10):
        status, out, err = optimetry("accuracy", "miniatures:Correct", *quick, "--steps", steps, "--out", tmp_path)
        assert (status, err) == (0, "")
        assert f"{steps} steps at the documented defaults." in out
    results = read(tmp_path / "results.jsonl")
    assert (results.header, results.verdicts, results.documents) == (judged.header, judged.verdicts, judged.documents)
    assert [each.about for each in results.accuracy] == [
        ("sgd", "float32", "default", gradients) for gradients in ("normal", "training")
    ]
    assert [point.step for point in results.accuracy[0].points] == [1, 3, 10]
    rows = list(csv.DictReader((tmp_path / "accuracy.csv").read_text().splitlines()))
    assert float(rows[0]["update median"]) == results.accuracy[0].points[0].update.median
    assert "## sgd" in (tmp_path / "accuracy.md").read_text()


@pytest.mark.usefixtures("miniatures")
def test_a_class_of_ones_own_is_measured_as_the_rule_that_it_stands_for(optimetry, refused):
    given = (
        "numpy:classes_for_numpy.OfParameters",
        "--as",
        "momentum",
        "--with",
        "mu=momentum",
        "nesterov=use_nesterov",
    )
    status, out, _ = optimetry("accuracy", *given, "--dtype", "float64", "--steps", 3)
    assert status == 0
    note, figures = out.split("\n\n", 1)
    assert note.startswith("momentum: lr = learning_rate, mu = momentum, nesterov = use_nesterov")
    assert figures.startswith("classes_for_numpy.OfParameters (numpy ")
    assert "\nmomentum     float64  " in out
    assert "--optimizer sgd: must be left out, --as momentum" in refused("accuracy", *given, "--optimizer", "sgd")


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("command", [("check",), ("campaign", "--do", "check")])
def test_a_check_keeps_what_was_measured_before_it(optimetry, refused, tmp_path, command):
    quick = ("--optimizer", "sgd", "--dtype", "float32", "--out", tmp_path)
    assert optimetry("accuracy", "miniatures:Correct", *quick, "--steps", 3)[0] == 0
    measured = read(tmp_path / "results.jsonl").accuracy
    check = (*quick, "--effort", "quick", "-n", 1)
    assert optimetry(*command, "miniatures:Correct", *check)[0] == 0
    results = read(tmp_path / "results.jsonl")
    assert (results.accuracy, len(results.verdicts), len(results.documents)) == (measured, 1, 1)
    assert optimetry(*command, "miniatures:Uphill", *check)[0] == 1
    assert read(tmp_path / "results.jsonl").accuracy == measured
    before = (tmp_path / "results.jsonl").read_bytes()
    assert "results of miniature 1.0, must be of numpy" in refused(*command, "numpy", *check)
    assert (tmp_path / "results.jsonl").read_bytes() == before


@pytest.mark.usefixtures("miniatures")
def test_a_run_that_was_ended_goes_on(optimetry, tmp_path, monkeypatch):
    run = ("accuracy", "miniatures:Correct", "--optimizer", "sgd", "--steps", 10, "--out", tmp_path)
    monkeypatch.setattr(command, "BETWEEN", 0.0)

    def ended(engine, rule, dtype, gradients, steps, guard):
        if dtype == "float64":
            raise KeyboardInterrupt
        return accuracy(engine, rule, dtype, gradients, steps, guard)

    monkeypatch.setattr(command, "accuracy", ended)
    assert optimetry(*run)[0] == 130
    kept = read(tmp_path / "results.jsonl").accuracy
    assert [each.about[1::2] for each in kept] == [("float32", "normal"), ("float32", "training")]
    again = []
    monkeypatch.setattr(command, "accuracy", lambda *about: again.append(about[2:4]) or accuracy(*about))
    assert optimetry(*run, "--resume")[0] == 0
    assert again == [("float64", "normal"), ("float64", "training")]
    assert read(tmp_path / "results.jsonl").accuracy[:2] == kept
    assert optimetry(*run, "--resume", "--steps", 3)[0] == 0
    assert len(again) == 6  # a run of another length is another


@pytest.mark.usefixtures("miniatures")
def test_a_header_names_all_that_was_measured(optimetry, tmp_path):
    for dtype, rule in (("float32", "sgd"), ("float64", "adam")):
        quick = ("--optimizer", rule, "--dtype", dtype, "--steps", 1, "--out", tmp_path)
        assert optimetry("accuracy", "miniatures:Correct", *quick)[0] == 0
    header = read(tmp_path / "results.jsonl").header
    assert (header.dtypes, header.optimizers) == (["float32", "float64"], ["sgd", "adam"])


@pytest.mark.usefixtures("miniatures")
def test_results_of_another_target_are_left_alone(optimetry, tmp_path):
    quick = ("--optimizer", "sgd", "--dtype", "float32", "--steps", 1, "--out", tmp_path)
    assert optimetry("accuracy", "miniatures:Correct", *quick)[0] == 0
    before = (tmp_path / "results.jsonl").read_bytes()
    status, out, err = optimetry("accuracy", "numpy", *quick)
    assert (status, out) == (2, ""), "refused before anything is measured"
    assert "results of miniature 1.0, must be of numpy" in err
    assert (tmp_path / "results.jsonl").read_bytes() == before
    assert read(tmp_path / "results.jsonl").header.effort == "none"


@pytest.mark.usefixtures("miniatures")
def test_a_target_that_fails_is_named(optimetry):
    status, out, _ = optimetry("accuracy", "miniatures:Raises", "--optimizer", "sgd", "--steps", 1)
    assert status == 1
    for kind in ("normal", "training"):
        assert f"failed: sgd float32 (engine default, {kind} gradients): raised RuntimeError" in out


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("how", ["apart", "program"])
def test_a_target_that_crashes_costs_its_own_runs(optimetry, how, monkeypatch):
    path = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", path)
    target = ["hostile:Segfault"] if how == "apart" else ["--", *python_command(None, "hostile:Segfault")]
    options = ("--optimizer", "momentum", "--optimizer", "sgd", "--dtype", "float32", "--steps", 3)
    status, out, _ = optimetry("accuracy", *target[: how == "apart"], *options, *target[how == "apart" :])
    assert (status, os.environ["PYTHONPATH"]) == (1, path)
    assert out.count("failed: momentum float32") == 2
    assert "its process was killed by SIGSEGV" in out
    assert out.count("\nsgd          float32  ") == 2


def test_what_cannot_be_measured_is_refused(refused):
    assert "no TARGET, must be a built-in name" in refused("accuracy")
    assert "--resume: needs --out" in refused("accuracy", "numpy", "--resume")
    assert "must be at most 10000" in refused("accuracy", "numpy", "--steps", STEPS[-1] + 1)
    asked = ("--optimizer", "sgd", "--optimizer", "clip_by_norm")
    assert "--optimizer clip_by_norm: must be a rule, no wrapper" in refused("accuracy", "numpy", *asked)
