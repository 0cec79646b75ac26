"""Arguments of a class are fitted to the hyperparameters of a rule by their names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets import for_numpy, for_torch
from optimetry.conformance.targets.fitting import Taken, fitted, parameters_of, taken_by
from optimetry.conformance.targets.offers import ClassOffer
from optimetry.conformance.targets.own_loading import parsed
from optimetry.reference.errors import TargetError, UsageError


def test_betas_are_as_many_as_the_rule_has() -> None:
    taken = [Taken(name, False) for name in ("lr", "betas", "eps", "weight_decay")]
    assert fitted("x", "papers.adan", taken, {}).arguments["betas"] == ("beta1", "beta2", "beta3")
    assert fitted("x", "torch.adamw", taken, {}).arguments["betas"] == ("beta1", "beta2")
    assert fitted("x", "papers.laprop", taken, {}).arguments["betas"] == ("mu", "nu")
    shares = fitted("x", "papers.qhadam", [*taken, Taken("nus", False)], {}).arguments
    assert (shares["betas"], shares["nus"]) == (("beta1", "beta2"), ("nu1", "nu2"))


def test_mu_is_what_the_rule_has_of_a_momentum_and_a_decay() -> None:
    taken = [Taken(name, False, 0.9) for name in ("lr", "mu", "nu")]
    assert fitted("x", "momentum", taken, {}).arguments == {"mu": "momentum"}
    assert fitted("x", "papers.adam", [*taken, Taken("epsilon", False, 0.1)], {}).arguments["mu"] == "beta1"
    both = [*taken, Taken("momentum", False, 0.9)]
    assert fitted("x", "momentum", both, {}).arguments == {"momentum": "momentum"}


def test_names_with_capitals_are_those_with_underscores() -> None:
    taken = [Taken(name, False, 0.0) for name in ("learningRate", "beta1", "beta2", "epsilon", "weightDecay")]
    fit = fitted("x", "papers.adamw", taken, {})
    assert fit.rate == "learningRate"
    assert fit.arguments == {name: name for name in ("beta1", "beta2", "epsilon")} | {"weightDecay": "weight_decay"}


def test_what_a_rule_declares_is_no_rate_where_a_step_may_have_it() -> None:
    taken = [Taken(name, False, 0.0) for name in ("alpha", "eps", "momentum")]
    fit = fitted("x", "torch.rmsprop", taken, {}, rate_in_step=True)
    assert (fit.rate, fit.arguments["alpha"]) == ("", "alpha")


def test_a_word_reaches_a_class_in_numpy() -> None:
    class Muon:
        def __init__(self, adjust_lr_fn="original"):
            self.how = adjust_lr_fn

        def step(self, parameters, grads, lr):
            return parameters

    fixed = {"weight_decay": 0.1, "momentum": 0.9, "nesterov": True, "a": 3.0, "b": -4.0, "c": 2.0, "eps": 1e-7}
    fixed["ns_steps"] = 1
    offer = for_numpy(Muon, **{"torch.muon": fixed}).offers["torch.muon"]
    given = [offer.keywords({**fixed, "match_rms_adamw": flag}) for flag in (True, False)]
    assert given == [{"adjust_lr_fn": "match_rms_adamw"}, {"adjust_lr_fn": None}]


class Base:
    def __init__(self, params, lr=0.1, mu=0.9, *, decay):
        self.decay = decay


class Named(Base):
    def __init__(self, params, lr=0.5, **options):
        super().__init__(params, lr, decay=0.1, **options)


class Starred(Named):
    def __init__(self, *args, extra=None, **kwargs):
        super().__init__(*args, **kwargs)


class Bare(Base):
    """Has no constructor of its own."""


@pytest.mark.parametrize(
    ("cls", "base", "names"),
    [
        (Bare, object, ["params", "lr", "mu", "decay"]),
        (Named, object, ["params", "lr", "mu", "decay"]),
        (Starred, object, ["params", "lr", "extra", "mu", "decay"]),
        (Starred, Base, ["params", "lr", "extra"]),
        (lambda *args, **kwargs: None, object, []),
    ],
)
def test_a_constructor_that_passes_arguments_on_takes_those_of_the_next_one(cls, base, names) -> None:
    assert [parameter.name for parameter in parameters_of(cls, base)] == names


def test_what_is_passed_on_is_not_required() -> None:
    assert [argument.name for argument in taken_by(Base, "x") if argument.required] == ["params", "decay"]
    assert [argument.name for argument in taken_by(Named, "x") if argument.required] == ["params"]


def passing_on(params, lr=0.1, **options): ...


def test_what_a_user_names_is_given_to_a_constructor_that_passes_it_on() -> None:
    taken = taken_by(passing_on, "x")[1:]
    assert [argument.name for argument in taken] == ["lr", "**options"]
    fit = fitted("x", "adam", taken, {"betas": ["beta1", "beta2"], "tiny": "epsilon", "level": 3})
    assert str(fit) == "adam: lr = learning_rate, betas = (beta1, beta2), tiny = epsilon, level = 3"


def test_what_nobody_names_is_not_guessed_where_arguments_are_passed_on() -> None:
    with pytest.raises(TargetError, match=r"no argument for beta1, beta2, epsilon, only lr, \*\*options: --with ARG"):
        fitted("x", "papers.adam", taken_by(passing_on, "x")[1:], {})


def test_an_argument_that_keeps_its_default_is_named_if_that_may_change_what_is_computed() -> None:
    def made(params, lr, max_grad_norm=1.0, power=2, warm=True, scale=0, off=False, none=None, text="name"): ...

    fit = fitted("x", "sgd", taken_by(made, "x")[1:], {"power": 3})
    assert fit.left == {"max_grad_norm": 1.0, "warm": True}
    assert str(fit) == "sgd: lr = learning_rate, power = 3; left at their defaults: max_grad_norm = 1.0, warm = True"
    assert "left" not in str(fitted("x", "sgd", taken_by(made, "x")[1:2], {}))


@pytest.mark.parametrize(
    ("rule", "argument", "hyperparameter"),
    [
        ("adam", "e", "epsilon"),
        ("torch.adamw", "weight_decay_rate", "weight_decay"),
        ("torch.nadam", "schedule_decay", "momentum_decay"),
    ],
)
def test_usual_synonyms_are_known(rule: str, argument: str, hyperparameter: str) -> None:
    taken = [Taken(name, False) for name in ("lr", "betas", argument)]
    others = {name: 1e-8 for name in ("eps", "epsilon") if name in set(subject_named(rule).numbers) - {hyperparameter}}
    assert fitted("x", rule, taken, others).arguments[argument] == hyperparameter


def test_capitals_stand_for_a_name_without_an_underscore() -> None:
    taken = [Taken(name, True) for name in ("lr", "etaMinus", "etaPlus", "minStep", "maxStep")]
    assert fitted("x", "torch.rprop", taken, {}).arguments == {
        "etaMinus": "etaminus", "etaPlus": "etaplus", "minStep": "step_size_min", "maxStep": "step_size_max",
    }  # fmt: skip


def test_a_threshold_of_clips_is_that_of_adafactor() -> None:
    taken = [Taken(name, False) for name in ("lr", "eps", "clip_threshold", "beta2_decay")]
    assert fitted("x", "torch.adafactor", taken, {}).arguments["clip_threshold"] == "d"


def test_a_class_that_passes_its_arguments_on_has_the_engines_of_the_one_before() -> None:
    torch = pytest.importorskip("torch")

    class Mine(torch.optim.SGD):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    target = for_torch(Mine, "momentum")
    assert target.note == for_torch(torch.optim.SGD, "momentum").note
    assert target.engine_names == ("single", "foreach", "fused", "differentiable")
    assert target.offers["momentum"].keywords_on("foreach", {"momentum": 0.5, "use_nesterov": False})["foreach"] is True


def test_an_argument_that_is_held_at_a_value_is_said_once() -> None:
    fit = fitted("x", "torch.sgd", [Taken("lr", True), Taken("momentum", False, 0.0)], {"momentum": 0.0})
    assert str(fit).count("momentum = 0.0") == 1


def test_what_arguments_are_given_is_parsed() -> None:
    texts = ["betas=beta1,1-beta2", "eps=epsilon", "decay=1e-3", "flag=True", "pair=0.9,0.99", "none=None", "most=inf"]
    assert parsed(texts) == {
        "betas": ("beta1", "1-beta2"), "eps": "epsilon", "decay": 1e-3, "flag": True, "pair": (0.9, 0.99), "none": None,
        "most": math.inf,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("torch:mine.Adam", "--with took torch:mine.Adam: put TARGET before --with, which takes every word behind it"),
        ("betas=beta1,beta2,beta2", "--with betas=beta1,beta2,beta2: beta2 is named twice"),
    ],
)
def test_what_cannot_be_parsed_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed([text])
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("epsilon:  must not be 0"), "make refuses it: epsilon: must not be 0"),
        (NotImplementedError("no AMSGrad"), "make refuses it: no AMSGrad"),
        (AssertionError(), "make refuses it"),
    ],
)
def test_what_a_constructor_raises_for_an_option_is_why_it_is_refused(error: Exception, expected: str) -> None:
    class Make(ClassOffer):
        def start(self, *given: Any) -> Any:
            raise AssertionError

    def make(epsilon: float) -> None:
        raise error

    assert Make(make).refused(epsilon=0.0) == expected
