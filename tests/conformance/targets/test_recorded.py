"""What real PaddlePaddle computed, fed to the judge as recorded runs; and that nothing else can be played back."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.conformance.judging.examine import judge
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.protocol import reason_unsupported
from optimetry.conformance.targets.recorded import RecordedRun, RecordedTarget
from optimetry.conformance.targets.session import Guard, trajectory
from tests.conformance.golden_runs import LIBRARIES, recorded
from tests.conformance.judged import QUICK, verdict_of

DOCUMENTED = "documented"

# What the measurement that came with the files says (columns of both libraries): the rule, and whether some numbers
# are held in float32 beside float64 parameters.
COMPUTED = {
    "fluid185": {
        "sgd": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, False),
        "momentum": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "lars_momentum": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "adagrad": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "decayed_adagrad": ({"float32": DOCUMENTED}, False),
        "adadelta": (dict.fromkeys(("float32", "float64"), "new_average_learning_rate_ignored"), True),
        "adam": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "adamax": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "rmsprop": ({"float32": DOCUMENTED}, False),
        "ftrl": ({"float32": "l1_for_l2"}, False),
        "lamb": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
    },
    "paddle262": {
        "sgd": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, False),
        "momentum": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "lars_momentum": (dict.fromkeys(("float32", "float64"), "zero_decay_plain_rate"), True),
        "adagrad": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "decayed_adagrad": ({"float32": DOCUMENTED}, False),
        "adadelta": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "adam": (dict.fromkeys(("float32", "float64"), "scaled_epsilon"), True),
        "adamax": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "rmsprop": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "ftrl": ({"float32": "strengths_enlarged"}, False),
        "lamb": (dict.fromkeys(("float32", "float64"), "bias_corrected_zero_decay_ratio_one"), True),
    },
    "paddle331_asgd": {"asgd": (dict.fromkeys(("float32", "float64"), "decay_in_history"), False)},
    "fluid185_wrappers": {
        "clip_by_value": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "clip_by_norm": ({"float32": DOCUMENTED}, False),
        "clip_by_global_norm": ({"float32": DOCUMENTED}, False),
        "l1_decay": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "l2_decay": ({"float32": DOCUMENTED, "float64": DOCUMENTED}, True),
        "exponential_moving_average": (dict.fromkeys(("float32", "float64"), "corrected_by_power"), True),
        "model_average": ({"float32": "whole_windows"}, False),
    },
}
JOBS = [
    (file, subject, dtype, rule, narrow)
    for file, subjects in COMPUTED.items()
    for subject, (rules, narrow) in subjects.items()
    for dtype, rule in rules.items()
]


def test_every_recorded_run_is_judged():
    held = {(file, run.case.optimizer, run.case.dtype) for file in LIBRARIES for run in recorded(file).runs}
    assert held == {job[:3] for job in JOBS}


@pytest.mark.parametrize(("file", "subject", "dtype", "rule", "narrow"), JOBS)
def test_a_recorded_library_is_named_as_measured(file, subject, dtype, rule, narrow):
    verdict = verdict_of(recorded(file), subject, dtype)
    assert verdict.computes is not None, verdict.reason
    held = [way for way in verdict.computes.arithmetic if "float32" in way or "float32_in_some_uses" in way]
    assert (verdict.computes.rule, bool(held)) == (rule, narrow and dtype == "float64")
    outcome = "dialect" if rule != DOCUMENTED else "imprecise" if held else "conforms"
    assert (verdict.verdict, verdict.cases) == (outcome, len(cases_of(file, subject, dtype)))


def cases_of(file, subject, dtype):
    return [case for case in recorded(file).recorded() if (case.optimizer, case.dtype) == (subject, dtype)]


def runs_of(file, subject, dtype):
    return [run for run in recorded(file).runs if (run.case.optimizer, run.case.dtype) == (subject, dtype)]


def changed(runs, change):
    """The runs with the last result of the first parameter changed."""
    *before, last = [[array.copy() for array in arrays] for arrays in runs[0].after]
    last[0] = change(last[0])
    return RecordedTarget("changed", "1", [RecordedRun(runs[0].case, [*before, last]), *runs[1:]])


@pytest.mark.slow
def test_a_recorded_result_that_is_wrong_is_rejected_and_shrunk():
    target = changed(runs_of("fluid185", "adam", "float32"), lambda array: np.nextafter(array, 9) * np.float32(1.0001))
    verdict = verdict_of(target, "adam")
    assert verdict.verdict == "diverges"
    assert verdict.counterexample is not None
    assert verdict.counterexample["step"] == 8


def test_a_result_one_rounding_away_still_conforms():
    runs = runs_of("fluid185", "sgd", "float32")
    rounded = expected(runs[0].case).bound[-1, : runs[0].case.parameters[0].size] > 0
    target = changed(runs, lambda array: np.where(rounded, np.nextafter(array, np.float32(np.inf)), array))
    assert rounded.any()
    assert verdict_of(target, "sgd").verdict == "conforms"


def test_beginnings_and_single_tensors_are_played_back():
    target = recorded("fluid185")
    case = cases_of("fluid185", "adam", "float32")[0]
    whole = trajectory(target, case, Guard())
    second = case.only([1])
    short = second.upto(3)
    first = case.parameters[0].size
    assert reason_unsupported(target, short) is None
    assert np.array_equal(trajectory(target, short, Guard()), whole[:3, first : first + case.parameters[1].size])


def test_nothing_else_is_played_back():
    target = recorded("fluid185")
    case = cases_of("fluid185", "adam", "float32")[0]
    refused = {
        "other hyperparameters": case.replace(hyper={**case.hyper, "beta1": 0.875}),
        "other learning rates": case.replace(learning_rates=(0.5, *case.learning_rates[1:])),
        "other gradients": case.replace(grads=(tuple(-g for g in case.grads[0]), *case.grads[1:])),
        "other parameters": case.replace(parameters=tuple(-p for p in case.parameters)),
        "more steps": case.replace(grads=case.grads * 2, learning_rates=case.learning_rates * 2),
        "no gradient": case.replace(grads=((None, *case.grads[0][1:]), *case.grads[1:])),
    }
    assert {name for name, other in refused.items() if reason_unsupported(target, other) is None} == set()
    assert reason_unsupported(target, case) is None


def test_tensors_that_depend_on_each_other_are_played_back_together():
    target = recorded("fluid185_wrappers")
    (case, *_) = cases_of("fluid185_wrappers", "clip_by_global_norm", "float32")
    assert reason_unsupported(target, case) is None
    assert reason_unsupported(target, case.only([0])) == "paddle holds no such run"


def test_what_was_not_recorded_is_unsupported():
    (verdict,) = judge([recorded("fluid185")], "rmsprop", "float64", effort=QUICK, seed=0)
    assert (verdict.verdict, verdict.reason) == ("unsupported", "paddle holds no such run")
