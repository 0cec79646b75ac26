"""The search for worst cases, and the corpus of those that it found."""

import numpy as np
import pytest

from optimetry.conformance.cases.case import file_of, replayed
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.certify.worst import Worst, WorstSearch, ratios
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.agreement import SLACK, compare
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest import worst_cases
from optimetry.conformance.selftest.equivalents import STYLES, StyledTarget
from optimetry.conformance.selftest.worst_cases import Row, engines_for, keep, page, replay, searched_rules
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rules import rule_named

SHORT = WorstSearch(starts=2, generations=12)
DRAWN = WorstSearch(starts=2, generations=12, selects=False)


class Off(NumpyTarget):
    """Is off by as many units in the last place as a function of the magnitudes of parameter and gradient says."""

    def __init__(self, units):
        self.units = units

    def start(self, optimizer, hyper, parameters):
        units = self.units

        class Run(RuleRun):
            def step(self, grads, learning_rate):
                before = [np.array(param) for param in self.training.parameters]
                after = super().step(grads, learning_rate)
                return [off(*each) for each in zip(before, grads, after, strict=True)]

        def off(before, grad, after):
            if grad is None:
                return after
            with np.errstate(all="ignore"):
                apart = units(np.abs(before.astype(float)), np.abs(grad.astype(float))) * np.spacing(np.abs(after))
                return np.asarray(after.astype(float) + apart).astype(after.dtype)

        return Run(rule_named(optimizer).of(hyper), parameters)


def test_the_search_climbs_to_where_a_target_is_furthest_off():
    """A peak at the parameter 1.5 and the gradient 0.5, whose foot is wide enough for drawn elements to meet it."""
    target = Off(lambda param, grad: 2.0 ** (40 - 12 * (np.abs(np.log2(param / 1.5)) + np.abs(np.log2(grad / 0.5)))))
    worst, drawn = (search.worst(target, "sgd", "float32") for search in (SHORT, DRAWN))
    assert 10 < 2 * drawn.share < worst.share
    (parameter,), ((grad,), *_) = worst.case.parameters, worst.case.grads
    assert abs(abs(float(parameter[0])) - 1.5) < 0.05
    assert len(worst.case.grads) > 1 or abs(abs(float(grad[0])) - 0.5) < 0.05


@pytest.mark.parametrize("optimizer", ["adam", "torch.adamw"])
def test_a_worst_case_is_one_element_with_the_ratio_that_was_reached(optimizer):
    worst = SHORT.worst(NumpyTarget(), optimizer, "bfloat16")
    assert worst.case.size == 1
    assert 0.9 < worst.share <= 1
    steps = len(worst.case.grads)
    last = expected(worst.case).steps(steps - 1, steps)
    agreement = compare(trajectory(NumpyTarget(), worst.case, Guard())[-1:], last, worst.case.form)
    assert agreement.share == worst.share
    assert ratios(NumpyTarget(), worst.case, Guard())[0][0] == worst.share
    assert SHORT.worst(NumpyTarget(), optimizer, "bfloat16").case.to_json() == worst.case.to_json()


def test_what_leaves_the_format_is_told_apart_from_a_ratio():
    """An average as ``old + (1 - b)*(new - old)`` overflows in the difference of two large gradients."""
    lerp = StyledTarget(STYLES["lerp"])
    with np.errstate(all="ignore"):
        worst = WorstSearch(starts=8, generations=3).worst(lerp, "adamax", "bfloat16")
        shares, left = ratios(lerp, worst.beyond, Guard())
    assert 0 < worst.share <= SLACK
    assert (shares[0], left[0]) == (0, True)


def test_no_honest_style_leaves_the_slack_on_what_is_kept():
    for optimizer in searched_rules():
        for dtype in worst_cases.DTYPES if replayed(optimizer, worst_cases.DTYPES[0]) else ():
            for engine in engines_for(optimizer):
                assert replay(engine, optimizer, dtype).share <= SLACK


def test_a_kept_case_rejects_what_drawn_cases_do_not(monkeypatch):
    case = SHORT.worst(NumpyTarget(), "sgd", "float32").case
    target = Off(lambda param, grad: 64.0 * (param == abs(float(case.parameters[0][0]))))
    few = Effort("few", 2, 0)
    (before,) = judge([target], "sgd", "float32", effort=few, seed=0)
    assert before.verdict == "conforms"
    monkeypatch.setattr("optimetry.conformance.judging.examine.replayed", lambda optimizer, dtype: (case,))
    (verdict,) = judge([target], "sgd", "float32", effort=few, seed=0, search=None)
    assert verdict.verdict == "diverges"


def test_a_worst_case_is_kept_once(tmp_path):
    worst = SHORT.worst(NumpyTarget(), "sgd", "float32")
    each = Row("sgd", "float32", "as documented", worst, 0.5, 0.6)
    assert [keep(each, tmp_path), keep(each, tmp_path)] == [True, False]
    assert not keep(Row("sgd", "float32", "as documented", Worst(), 0.0, 0.0), tmp_path)
    (line,) = (tmp_path / file_of("sgd", "float32")).read_text().splitlines()
    assert line == worst.case.to_json()
    assert f"{worst.share:.4f}" in page([each], "")


def test_the_corpus_has_cases_of_its_own_subject_and_dtype():
    for optimizer in searched_rules():
        for dtype in worst_cases.DTYPES:
            assert all((case.optimizer, case.dtype) == (optimizer, dtype) for case in replayed(optimizer, dtype))
    assert replayed("sgd", "float64")
    assert replayed("lamb", "float16") == ()
