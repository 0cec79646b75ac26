"""The book torch has torch's hyperparameters: names, order and defaults, as the signatures of its classes give them."""

from __future__ import annotations

import inspect

import pytest

from optimetry.reference.books import BOOKS

PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
    "eps": ("eps1", "eps2"),
    "ns_coefficients": ("a", "b", "c"),
}
WORDS = {"adjust_lr_fn": "match_rms_adamw"}
"""Arguments that are None or a word: the flag that stands for the word."""

IMPLEMENTATIONS = {"self", "params", "foreach", "fused", "capturable", "differentiable"}
"""Arguments that choose how a class computes, and no formula."""

SIGNATURES = {
    "ASGD": "lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, maximize=False",
    "Adafactor": "lr=0.01, beta2_decay=-0.8, eps=(None, 0.001), d=1.0, weight_decay=0.0, maximize=False",
    "Adadelta": "lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, maximize=False",
    "Adagrad": "lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, maximize=False",
    "Adam": "lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, maximize=False, "
    "decoupled_weight_decay=False",
    "AdamW": "lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False, maximize=False",
    "Adamax": "lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, maximize=False",
    "Muon": "lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), "
    "eps=1e-07, ns_steps=5, adjust_lr_fn=None",
    "NAdam": "lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004, "
    "decoupled_weight_decay=False, maximize=False",
    "RAdam": "lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, decoupled_weight_decay=False, maximize=False",
    "RMSprop": "lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, maximize=False",
    "Rprop": "lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), maximize=False",
    "SparseAdam": "lr=0.001, betas=(0.9, 0.999), eps=1e-08, maximize=False",
    "SGD": "lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False",
}
"""Of torch 2.13, without what `IMPLEMENTATIONS` leaves out; the rules are held to it where torch is not installed."""

RULES = {rule.__name__: rule for rule in BOOKS["torch"].values()}


def test_the_book_has_these_classes() -> None:
    assert set(RULES) == set(SIGNATURES)
    assert {name.replace("_", "") for name in BOOKS["torch"]} == {f"torch.{name.lower()}" for name in SIGNATURES}


@pytest.mark.parametrize("name", SIGNATURES)
def test_names_order_and_defaults_are_torchs(name: str) -> None:
    defaults = eval(f"dict({SIGNATURES[name]})")
    expected = {"lr": defaults.pop("lr")}
    for argument, default in defaults.items():
        several = zip(PAIRS[argument], default, strict=True) if isinstance(default, tuple) else ()
        word = WORDS.get(argument)
        expected |= dict(several) or ({word: default is not None} if word else {argument: default})
    rule = RULES[name]
    declared = {"lr": rule.learning_rate} | {x.name: x.default for x in rule.hyperparameters()}
    assert list(declared.items()) == list(expected.items())


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_table_is_the_installed_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch, whose signatures these are, is not installed")
    parameters = inspect.signature(getattr(torch.optim, name)).parameters
    assert IMPLEMENTATIONS & set(parameters)
    text = [f"{x}={parameter.default!r}" for x, parameter in parameters.items() if x not in IMPLEMENTATIONS]
    assert ", ".join(text) == SIGNATURES[name]


@pytest.mark.parametrize("name", SIGNATURES)
def test_each_rule_names_its_docstring_and_has_corners(name: str) -> None:
    rule = RULES[name]
    assert rule.document() == f"torch.optim.{name} (docstring)"
    assert rule.book == "torch"
    assert [x.name for x in rule.hyperparameters() if len(x.corners) < 2] == []
