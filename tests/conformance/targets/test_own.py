"""Targets made of one optimizer of a user: honest ones conform, faulty ones are named, the rest says what it lacks."""

import importlib
import json
import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_numpy, for_torch
from optimetry.conformance.targets.own import MAKERS
from optimetry.conformance.targets.own_loading import Own, load_own
from optimetry.reference.errors import TargetError, UsageError

pytestmark = pytest.mark.usefixtures("miniatures")

FEW = Effort("few", 12, 2)

DECAYS = {"decays": ("beta1", "beta2"), "tiny": "epsilon"}


def needs(*modules):
    return pytest.mark.skipif(not all(map(util.find_spec, modules)), reason=f"needs {', '.join(modules)}")


def classes(framework):
    return importlib.import_module(f"classes_for_{framework}")


def judged(target, rule, dtype="float32"):
    (verdict,) = judge(target.engines()[:1], rule, dtype, effort=FEW, seed=0, search=None)
    return verdict


def refusal(spec, rule, *arguments):
    with pytest.raises(UsageError) as caught:
        load_own(Own(spec, rule, arguments))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def computed(verdict):
    return verdict.computes.rule if verdict.computes else None


@needs("torch")
def test_a_class_for_torch_is_judged_by_what_it_computes():
    mine = classes("torch")
    target = for_torch(mine.HonestAdam, adam=DECAYS)
    assert target.name == "classes_for_torch.HonestAdam"
    assert target.note == "adam: learning_rate = learning_rate, decays = (beta1, beta2), tiny = epsilon"
    assert judged(target, "adam", "float64").verdict == "conforms"
    assert judged(for_torch(mine.Squared, adam=DECAYS), "adam").verdict in ("diverges", "dialect")


@needs("torch")
@pytest.mark.parametrize("name", ["GroupCounted", "GroupCountedInATensor"])
def test_steps_that_a_group_counts_are_saved_with_it_and_named(name):
    verdict = judged(for_torch(getattr(classes("torch"), name), adam=DECAYS), "adam")
    assert (verdict.verdict, computed(verdict), verdict.law) == ("dialect", "step_count_global", None)


@needs("torch")
def test_a_group_that_does_not_restore_its_count_breaks_the_law_of_resuming():
    target = for_torch(classes("torch").GroupCounted, adam=DECAYS)
    offer = target.offers["adam"]

    class Forgetful(type(offer)):
        def start(self, *arguments):
            run = super().start(*arguments)
            run.load = lambda state, load=run.load: load({k: v for k, v in state.items() if "group t" not in k})
            return run

    vars(target)["offers"] = {"adam": Forgetful(**vars(offer))}
    assert "saved state" in judged(target, "adam").reason


@needs("torch")
@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_lists_of_the_group_are_saved_with_it(dtype):
    target = for_torch(classes("torch").ListsInTheGroup, adam=DECAYS)
    assert judged(target, "adam", dtype).verdict == "conforms"
    run = target.engines()[0].start("adam", {"beta1": 0.5, "beta2": 0.5, "epsilon": 0.5}, [np.ones(2)])
    assert run.state() == {}
    run.step([np.ones(2)], 0.1)
    assert list(run.state()) == ["object group kept"]


@needs("torch")
def test_a_state_of_none_is_not_one_that_is_missing():
    assert judged(for_torch(classes("torch").KeepsNone, adam=DECAYS), "adam").verdict == "conforms"


@needs("torch")
def test_a_kept_tensor_of_a_gradient_is_an_error_that_says_so():
    verdict = judged(for_torch(classes("torch").KeepsTheGradient, "momentum"), "momentum")
    assert verdict.verdict == "error"
    assert re.search(r"keeps the array of gradient \d instead of its contents", verdict.reason)


@needs("torch")
def test_a_class_for_sparse_gradients_alone_gets_them():
    assert judged(for_torch(classes("torch").SparseAlone, "sgd"), "sgd").verdict == "conforms"


@needs("torch")
def test_a_value_that_a_constructor_refuses_is_not_tried():
    mine = classes("torch")
    target = for_torch(mine.Picky, "adam")
    assert target.unsupported("adam", {"beta1": 0.5, "beta2": 0.5, "epsilon": 0.0}, "float32") == (
        "Picky refuses it: Invalid epsilon value: 0"
    )
    assert judged(target, "adam").verdict == "conforms"


@needs("torch")
def test_torchs_own_classes_need_no_mapping():
    import torch

    for cls, rule in ((torch.optim.NAdam, "torch.nadam"), (torch.optim.Muon, "torch.muon"), (torch.optim.SGD, "sgd")):
        assert for_torch(cls, rule).engine_names[0] == "single"
    assert for_torch(torch.optim.RMSprop, "rmsprop").note.startswith("rmsprop: lr = learning_rate, alpha = rho")
    amsgrad = for_torch(torch.optim.Adam, "papers.amsgrad")
    assert amsgrad.offers["papers.amsgrad"].constants == {"amsgrad": True}


@pytest.mark.slow
@needs("keras")
@pytest.mark.parametrize(("name", "status"), [("Honest", 0), ("Doubled", 1)])
def test_a_class_for_keras_is_judged_on_its_backend(name, status, monkeypatch, optimetry):
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    asked = ("check", f"keras:classes_for_keras.{name}", "--as", "sgd", "--effort", "quick", "--dtype", "float32")
    ended, out, _ = optimetry(*asked)
    assert ended == status, out
    assert "sgd: learning_rate = learning_rate" in out
    if status:
        assert f"optimetry diagnose keras:classes_for_keras.{name} --as sgd" in out


@pytest.mark.slow
@needs("keras")
def test_a_class_for_keras_whose_variables_are_not_told_apart_is_given_every_gradient(monkeypatch, optimetry):
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    asked = ("--as", "adagrad", "--effort", "quick", "--dtype", "float32", "--format", "json")
    status, out, _ = optimetry("check", "keras:classes_for_keras.Unnamed", *asked)
    assert (status, json.loads(out)[0]["verdicts"][0]["untried"]) == (0, ["missing gradients"])


def test_an_isolated_class_is_played_by_the_harness(optimetry, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    options = ("--as", "momentum", "--with", "mu=momentum", "--effort", "quick", "--dtype", "float32")
    status, out, _ = optimetry("check", "numpy:classes_for_numpy.NeverNesterov", *options)
    assert status == 1
    assert "optimetry diagnose numpy:classes_for_numpy.NeverNesterov --as momentum --with mu=momentum" in out


def test_diagnose_takes_a_class(optimetry):
    options = ("--as", "momentum", "--with", "mu=momentum", "--dtype", "float32", "--search", "off")
    status, out, _ = optimetry("diagnose", "numpy:classes_for_numpy.NeverNesterov", *options)
    assert status == 1
    assert "momentum: lr = learning_rate, mu = momentum, nesterov = use_nesterov" in out


def test_a_hyperparameter_without_an_argument_is_held():
    mine = classes("numpy")
    held = for_numpy(mine.OfArrays, **{"torch.rmsprop": {"rho": "alpha", "eps": 1e-3}})
    assert held.offers["torch.rmsprop"].pinned == {
        "eps": 1e-3, "weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False,
    }  # fmt: skip
    assert held.offers["torch.rmsprop"].constants == {"eps": 1e-3}
    fixed = for_numpy(mine.OfLists, momentum={"momentum": 0})
    assert fixed.offers["momentum"].pinned == {"momentum": 0.0, "use_nesterov": False}


@pytest.mark.parametrize(
    ("spec", "rule", "arguments", "expected"),
    [
        ("numpy:classes_for_numpy.Nothing", "sgd", (), "classes_for_numpy has no attribute 'Nothing'"),
        ("numpy:no_such_module.Nothing", "sgd", (), "no module 'no_such_module'"),
        ("numpy:OfLists", "sgd", (), "must be numpy:module.Name"),
        ("numpy:classes for.X", "sgd", (), "must be numpy:module.Name"),
        (
            "nunpy:classes_for_numpy.OfLists",
            "sgd",
            (),
            "one of jax, keras, numpy, optax, torch; did you mean numpy:classes_for_numpy.OfLists?",
        ),
        ("classes_for_numpy.OfLists", "sgd", (), "optax, torch; did you mean numpy:classes_for_numpy.OfLists?"),
        ("numpy:classes_for_numpy.instance", "sgd", (), "a OfArrays, must be a class"),
        ("numpy:classes_for_numpy.NoStep", "sgd", (), "NoStep has neither step nor update"),
        ("numpy:classes_for_numpy.ForgetsRate", "decayed_adagrad", (), "a class with one rate takes learning_rate=1.0"),
        (
            "numpy:classes_for_numpy.OfLayers",
            "sgd",
            (),
            "TypeError: OfLayers.update(layer) is given parameters and gradients: too many positional arguments",
        ),
        ("numpy:classes_for_numpy.nothing", "sgd", (), "it made a NoneType, must be an object with step or update"),
        ("numpy:classes_for_numpy.OfLists", "l2_decay", (), "l2_decay is a wrapper"),
        ("numpy:classes_for_numpy.OfLists", "adan", (), "unknown optimizer 'adan'"),
        ("numpy:classes_for_numpy.OfLists", "adam", (), "no argument for beta1, beta2, epsilon, only learning_rate"),
        (
            "numpy:classes_for_numpy.OfArrays",
            "adam",
            ("rho=beta2",),
            "no argument for beta1, only lr, rho, eps: --with",
        ),
        (
            "numpy:classes_for_numpy.OfArrays",
            "decayed_adagrad",
            ("decay=rho",),
            "no argument 'decay', only lr, rho, eps",
        ),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("decay=rho",), "; write rho=decay"),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("foo=rho",), "no argument 'foo', only lr, rho, eps$"),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("rho=dcay",), "unknown hyperparameter 'dcay'"),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("rho=1.5",), "decay = 1.5, must be in [0, 1)"),
        (
            "numpy:classes_for_numpy.OfArrays",
            "decayed_adagrad",
            ("rho",),
            "--with rho: must be ARGUMENT=HYPERPARAMETER",
        ),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("rho=a-b",), "'a-b' must be a hyperparameter"),
        (
            "numpy:classes_for_numpy.OfGains",
            "decayed_adagrad",
            ("gain=1-roh",),
            "gain = 1-roh: unknown hyperparameter 'roh'",
        ),
        (
            "numpy:classes_for_numpy.OfParameters",
            "torch.sgd",
            ("mu=1-nesterov",),
            "mu = 1-nesterov: nesterov is no real number, and has no complement",
        ),
        ("numpy:classes_for_numpy.OfArrays", "decayed_adagrad", ("rho=decay", "rho=0.5"), "rho is given twice"),
    ],
)
def test_what_does_not_fit_is_said(spec, rule, arguments, expected):
    assert expected in f"{refusal(spec, rule, *arguments)}$"


@needs("torch")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "NeedsClosure",
            "NeedsClosure.step needs closure: it evaluates the loss itself, and optimetry gives gradients",
        ),
        (
            "NeedsEpoch",
            "NeedsEpoch.step needs epoch: optimetry calls it without arguments, as a training loop calls torch's own",
        ),
        ("AsksForClosure", "as sgd: its first step raised AssertionError: a closure is needed"),
        ("NoStep", "NoStep has no step of its own, must be a subclass of torch.optim.Optimizer"),
        ("NoRate", "NoRate keeps no 'lr' in param_groups, so no step can change it"),
        ("NeedsMore", "nothing is known for its argument total_steps, which has no default: --with total_steps="),
    ],
)
def test_what_torch_classes_cannot_do_is_said(name, expected):
    assert expected in refusal(f"torch:classes_for_torch.{name}", "sgd")


@needs("jax", "optax")
@pytest.mark.parametrize(
    ("spec", "rule", "expected"),
    [
        ("optax:classes_for_jax.made_already", "sgd", "a transformation that is made already, must be a function"),
        ("optax:classes_for_jax.scale", "adam", "no argument for the learning rate, only b1, b2, eps: --with"),
        ("optax:classes_for_jax.descent", "momentum", "it made a tuple, must be a gradient transformation"),
        ("jax:classes_for_jax.pair", "momentum", "must be the three functions init, update, get_params"),
    ],
)
def test_what_wrong_functions_make_is_said(spec, rule, expected):
    assert expected in refusal(spec, rule)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("check", "numpy:classes_for_numpy.Nothing", "--as", "sgd"), "has no attribute 'Nothing'"),
        (("check", "numpy:no_such_module.Nothing", "--as", "sgd"), "no module 'no_such_module'"),
        (("check", "numpy:classes_for_numpy.OfLists", "--as", "sdg"), "did you mean sgd?"),
        (("check", "numpy:classes_for_numpy.OfLists", "--with", "a=b"), "--with a=b: needs --as"),
        (("check", "numpy:x.Y", "--as", "sgd", "--with", "a"), "--with a: must be ARGUMENT=HYPERPARAMETER"),
        (("check", "numpy:x.Y", "--as", "sgd", "--optimizer", "adam"), "--optimizer adam: must be left out"),
        (("check", "--as", "sgd", "--", "true"), "--as sgd: is for TARGET"),
        (
            ("check", "numpy:mine.MyAdam"),
            "one optimizer of yours needs the rule that it stands for: --as",
        ),
        (("check", "nunpy:x.Y", "--as", "sgd"), "error: target nunpy:x.Y: with --as, must be FRAMEWORK:module.Name"),
        (("check", "nunpy:x.Y", "--as", "sgd"), "did you mean numpy:x.Y?"),
        (("check", "mine:Target", "--as", "sgd"), "a target of a whole library takes --optimizer in place of --as"),
        (("check", "numpy", "--as", "sgd"), "of the whole of numpy, choose --optimizer sgd in place of --as"),
        (("check", "numpy:classes_for_numpy.plain_sgd", "--as", "sgd"), "its argument param is one of a step: name a"),
        (("check", "numpy", "--optimizer", "sgd,adam"), "name one at a time, the option may be repeated"),
        (("diagnose", "numpy"), "no --optimizer"),
    ],
)
def test_the_command_says_in_one_line_what_is_wrong(arguments, expected, refused):
    assert expected in refused(*arguments)


def test_what_makes_targets_imports_no_framework():
    code = "import sys, optimetry.conformance.targets; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not (set(MAKERS) - {"numpy"}) & set(loaded)
    with pytest.raises(TargetError, match="no rule that it stands for"):
        for_numpy(classes("numpy").OfLists)
