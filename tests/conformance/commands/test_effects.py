"""How large differences are: the measure, on targets of which it can be worked out."""

import dataclasses
import sys

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands import effects as command
from optimetry.conformance.commands.effects import SCALES, SIZES, Effect, effects, loaded, page, picture, worst
from optimetry.conformance.judging.effect import ELEMENTS, STEPS, default_case, effect
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.reference.rules import RULES
from optimetry.reports.results import Computes, Header, Results, Verdict


class Enlarged:
    """SGD with steps that are a given factor of the documented ones."""

    name, version = "enlarged", "1.0"

    def __init__(self, factor):
        self.factor = factor

    def start(self, optimizer, hyper, parameters):
        self.parameters = [param.copy() for param in parameters]
        return self

    def step(self, grads, learning_rate):
        pairs = zip(self.parameters, grads, strict=True)
        self.parameters = [np.asarray(p if g is None else p - self.factor * learning_rate * g) for p, g in pairs]
        return self.parameters


class Pinned(Enlarged):
    """The same of a framework that has one momentum."""

    pinned = {"momentum": {"momentum": 0.0, "use_nesterov": False}}  # noqa: RUF012


def test_an_effect_is_measured_of_what_is_offered():
    assert effect(Pinned(1.5), default_case("momentum", "float64", 1.0)) == pytest.approx(0.5)

    class Refusing(Enlarged):
        def unsupported(self, optimizer, hyper, dtype):
            return "not today"

    assert effect(Refusing(1.5), default_case("sgd", "float64", 1.0)) is None


def results(*verdicts):
    header = Header(
        optimetry="0.1.0",
        target="enlarged",
        target_version="1.0",
        platform="Linux x86_64",
        dtypes=["float32", "float64"],
        optimizers=["sgd"],
        seed=0,
        effort="quick",
    )
    return Results(header, list(verdicts))


def test_an_effect_is_a_share_of_how_far_the_documented_rule_goes():
    case = default_case("sgd", "float64", 1.0)
    assert effect(Enlarged(1.25), case) == pytest.approx(0.25)
    assert effect(Enlarged(1), case) < 1e-12


def test_a_parameter_that_should_not_move_is_infinitely_far_off():
    still = Case("sgd", "float64", {}, (0.1,), (np.ones(1),), ((np.zeros(1),),))
    astray = Enlarged(1)
    astray.step = lambda grads, learning_rate: [np.full(1, 2.0)]
    assert effect(astray, still) == np.inf
    assert effect(Enlarged(3), still) == 0


def test_numbers_that_are_not_finite_are_infinitely_far_off():
    with np.errstate(all="ignore"):
        assert effect(Enlarged(np.nan), default_case("sgd", "float64", 1.0)) == np.inf


def test_a_case_that_a_target_does_not_get_through_has_no_effect():
    def fails(optimizer, hyper, parameters):
        raise RuntimeError("not today")

    failing = Enlarged(2)
    failing.start = fails
    assert worst(failing, default_case("sgd", "float64", 1.0)) == 0
    assert worst(Enlarged(2), default_case("sgd", "float64", 1.0)) > 0


@pytest.mark.parametrize("optimizer", RULES)
def test_the_reference_has_no_effect_at_defaults(optimizer):
    case = default_case(optimizer, "float64", SCALES["N(0, 1) gradients"])
    assert (len(case.grads), case.size) == (STEPS, ELEMENTS)
    assert effect(NumpyTarget(), case) < 1e-9


def test_a_framework_that_is_installed_apart_runs_under_its_python():
    case, elsewhere = default_case("adam", "float32", 1.0), loaded("numpy", {"numpy": sys.executable})
    assert isinstance(elsewhere, ProgramTarget)
    assert 0 < effect(elsewhere, case) == effect(loaded("numpy", {"torch": "python3"}), case)
    elsewhere.connection.program.close()


def test_a_difference_is_measured_once_and_where_rounding_is_least():
    named = Verdict(optimizer="sgd", dtype="float32", verdict="dialect", computes=Computes("enlarged"), cases=80)
    wide = dataclasses.replace(named, dtype="float64")
    fine = Verdict(optimizer="adam", dtype="float32", verdict="conforms", cases=80)
    (measured,) = effects(Enlarged(1.5), results(fine, named, wide))
    assert measured.verdict == wide
    assert measured.at_defaults == {name: pytest.approx(0.5) for name in SCALES}
    assert measured.by_size == {size: pytest.approx(0.5, rel=1e-3) for size in SIZES}
    drawn = picture([measured])
    assert ">sgd<" in drawn
    assert ">enlarged<" in drawn
    assert "var(--a)" in drawn
    many = picture([dataclasses.replace(measured, target=f"library {i}") for i in range(13)])
    assert all(f">library {i}<" in many for i in range(13))
    (narrow,) = effects(Enlarged(1.5), results(named))
    assert set(narrow.by_size) == set(SCALES.values())  # rounding would be most of the others
    assert measured.worst == pytest.approx(0.5)
    assert "| enlarged    | `sgd`  | float64 | `enlarged` | 5.0e-01             |" in page([measured])


def test_what_was_measured_is_stored_and_not_measured_again(tmp_path, monkeypatch):
    named = Verdict(optimizer="sgd", dtype="float64", verdict="dialect", computes=Computes("enlarged"), cases=80)
    measured = Effect("enlarged", named, {1.0: 0.5, 1e-6: np.inf}, worst=np.inf)
    monkeypatch.setattr(command, "read", lambda file: results(named))
    monkeypatch.setattr(command, "loaded", lambda name, pythons: None)
    monkeypatch.setattr(command, "effects", lambda target, results: [measured])
    (tmp_path / "results.jsonl").touch()
    assert command.measured(tmp_path, {}) == [measured]
    monkeypatch.delattr(command, "effects")
    assert command.measured(tmp_path, {}) == [measured]
    other = dataclasses.replace(named, dtype="float32")
    monkeypatch.setattr(command, "read", lambda file: results(other))
    with pytest.raises(KeyError):
        command.measured(tmp_path, {})


def test_a_hyperparameter_that_cannot_be_given_has_the_value_that_it_can_have():
    """Else no case would be offered, and the effect would be none."""
    pinned = Enlarged(1.5)
    pinned.pinned = {"adagrad": {"epsilon": 1e-8}}
    named = Verdict(optimizer="adagrad", dtype="float32", verdict="dialect", computes=Computes("other"), cases=80)
    (measured,) = effects(pinned, results(named))
    assert min(measured.worst, *measured.by_size.values()) > 0


def test_an_interpreter_without_its_framework_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["folder", "--out", "page.md", "--python", "torch"])
    assert "--python torch: must be FRAMEWORK=PYTHON" in capsys.readouterr().err
