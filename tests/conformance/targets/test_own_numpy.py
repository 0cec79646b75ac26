"""Classes and functions in NumPy, judged in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_numpy
from tests.conformance import classes_for_numpy as mine

FEW = Effort("few", 12, 2)


def judged(target, rule, dtype="float32"):
    (verdict,) = judge([target], rule, dtype, effort=FEW, seed=0, search=None)
    return verdict


@pytest.mark.parametrize(
    ("name", "rule", "arguments", "untried"),
    [
        ("OfParameters", "momentum", {"mu": "momentum"}, []),
        ("PassesOn", "momentum", {"mu": "momentum"}, []),
        ("OfLists", "sgd", {}, ["missing gradients"]),
        ("GradientsFirst", "sgd", {}, ["missing gradients"]),
        ("RateOfTheConstructor", "sgd", {}, ["missing gradients", "learning rates that change"]),
        ("NeverEmpty", "sgd", {}, ["missing gradients", "empty parameters"]),
        ("NeverAnEmptyMatrix", "sgd", {}, ["missing gradients", "empty parameters"]),
        ("NeverInfinite", "sgd", {}, ["missing gradients", "NaN and infinities"]),
        ("OfDictionaries", "decayed_adagrad", {}, []),
        ("ReturnsDictionaries", "decayed_adagrad", {}, ["missing gradients"]),
        ("ReturnsWhatHasAGradient", "decayed_adagrad", {}, ["missing gradients"]),
        ("OfNamedParameters", "decayed_adagrad", {}, []),
        ("OfArrays", "decayed_adagrad", {}, []),
        ("Scales", "sgd", {}, []),
        ("RateOfTheStep", "decayed_adagrad", {"step_length": "learning_rate"}, []),
        ("closure", "momentum", {}, []),
    ],
)
def test_a_class_of_each_form_is_judged(name, rule, arguments, untried):
    verdict = judged(for_numpy(getattr(mine, name), **{rule: arguments}), rule)
    assert (verdict.verdict, verdict.untried) == ("conforms", untried)


class DecaysByARatio:
    """NNabla's SGDW in little: its decay shrinks as its rate does, from the strength itself."""

    def __init__(self, learning_rate=0.1, weight_decay=0.0):
        self.learning_rate = self.first = learning_rate
        self.weight_decay = weight_decay

    def step(self, param, grad):
        ratio = param.dtype.type(self.learning_rate / self.first)
        return param - self.learning_rate * grad - ratio * self.weight_decay * param


class StaysAtTheFirst(DecaysByARatio):
    """Which never looks at the attribute that a schedule sets."""

    def step(self, param, grad):
        return param - self.first * (grad + self.weight_decay * param)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (DecaysByARatio, "but decays by the ratio of the learning rate to that of the constructor"),
        (StaysAtTheFirst, "with learning_rate = 0.625 whatever is given (that of the constructor)"),
    ],
)
def test_what_a_constructor_makes_of_its_learning_rate_is_seen(cls, words):
    """It is not 1: a quotient by it would be the rate, as documented."""
    assert words in judged(for_numpy(cls, "torch.sgd"), "torch.sgd").reason


class AsPublished:
    """Adadelta of its publication, which has no learning rate."""

    def __init__(self, rho, epsilon):
        self.rho, self.epsilon, self.squares, self.steps = rho, epsilon, 0, 0

    def step(self, param, grad):
        number = param.dtype.type
        old, new = number(self.rho), number(1 - self.rho)
        self.squares = old * self.squares + new * grad * grad
        ratio = np.sqrt(self.steps + number(self.epsilon)) / np.sqrt(self.squares + number(self.epsilon))
        self.steps = old * self.steps + new * (ratio * grad) ** 2
        return param - ratio * grad


class AtOneRate(DecaysByARatio):
    """Which has an attribute for its learning rate."""

    def step(self, param, grad):
        return param - param.dtype.type(self.learning_rate) * grad


@pytest.mark.parametrize(
    ("cls", "rule", "arguments", "verdict"),
    [
        (AsPublished, "papers.adadelta", {"learning_rate": 1.0}, "conforms"),
        (AsPublished, "papers.adadelta", {"learning_rate": 0.5}, "diverges"),
        (AtOneRate, "sgd", {"learning_rate": 0.1}, "conforms"),
    ],
)
def test_a_class_with_one_learning_rate_is_judged_at_that(cls, rule, arguments, verdict):
    target = for_numpy(cls, **{rule: arguments})
    (one,) = arguments.values()
    given = judged(target, rule)
    assert (given.verdict, f"learning rates other than {one}" in given.untried) == (verdict, True)
    cure = (
        "learning_rate = 1 whatever is given, though it is judged at learning_rate = 0.5: --with learning_rate=1.0, or"
    )
    assert verdict == "conforms" or cure in given.reason


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_argument_may_be_the_complement_of_a_hyperparameter(dtype):
    for gain, outcome in (("1-decay", "conforms"), ("decay", "diverges")):
        target = for_numpy(mine.OfGains, decayed_adagrad={"gain": gain})
        assert judged(target, "decayed_adagrad", dtype).verdict == outcome


@pytest.mark.parametrize("name", ["Picky", "Asserting"])
def test_a_value_that_a_constructor_refuses_is_not_tried(name):
    target = for_numpy(getattr(mine, name), momentum={"mu": "momentum"})
    asked = {"momentum": 0.0, "use_nesterov": True}
    assert target.unsupported("momentum", asked, "float32") == f"{name} refuses it: nesterov needs a momentum"
    assert judged(target, "momentum").verdict == "conforms"


def test_a_class_that_computes_in_float64_alone_is_judged_there():
    target = for_numpy(mine.InFloat64, "sgd")
    narrow, wide = (judged(target, "sgd", dtype) for dtype in ("float32", "float64"))
    assert (narrow.verdict, wide.verdict) == ("error", "conforms")
    assert "as float64 of shape (" in narrow.reason


def test_a_fault_of_a_class_of_dictionaries_is_found():
    assert judged(for_numpy(mine.FirstOfDictionaries, "decayed_adagrad"), "decayed_adagrad").verdict == "diverges"


def test_a_faulty_class_is_named():
    verdict = judged(for_numpy(mine.NeverNesterov, momentum={"mu": "momentum"}), "momentum")
    assert verdict.verdict != "conforms"
    assert "use_nesterov" in verdict.reason


@pytest.mark.parametrize("name", ["StateOfTheClass", "StateByShape"])
def test_a_state_on_the_class_is_found_though_runs_cannot_be_saved(name):
    target = for_numpy(getattr(mine, name), momentum={"mu": "momentum"})
    verdict = judged(target, "momentum")
    assert (verdict.verdict, verdict.law) == ("diverges", "runs_side_by_side")
    target.side_by_side = False
    assert judged(target, "momentum").verdict == "conforms"


def test_a_state_on_the_class_is_found_in_a_process_of_its_own(optimetry, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    options = ("--as", "momentum", "--with", "mu=momentum", "--effort", "quick", "--dtype", "float32")
    status, out, _ = optimetry("check", "numpy:classes_for_numpy.StateOfTheClass", *options)
    assert status == 1
    assert "a run is what it is alone" in out


@pytest.mark.slow
def test_what_signs_leave_to_chance_in_the_telling_cases_is_found():
    (verdict,) = judge(
        [for_numpy(mine.HastyLion, "papers.lion")], "papers.lion", "float32", effort=EFFORTS["quick"], seed=0
    )
    assert verdict.verdict == "dialect"
    assert verdict.reason.startswith("beta1 -> beta2*beta1: found by search"), "as 1 - beta1 becomes 1 - beta2*beta1"


def test_a_gradient_that_a_class_keeps_is_told_from_what_it_holds():
    verdict = judged(for_numpy(mine.Keeps, "sgd"), "sgd")
    assert (verdict.verdict, "keeps the array of gradient" in verdict.reason) == ("error", True)
