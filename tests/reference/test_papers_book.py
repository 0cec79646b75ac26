"""The book papers has the hyperparameters of the publications: names, order, and the defaults that they recommend."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.reference.books import BOOKS
from optimetry.reference.books.papers.quotient import quotient

DECLARED = {
    "adam": ("Kingma & Ba (2015), algorithm 1", "beta1=0.9, beta2=0.999, epsilon=1e-8"),
    "adamax": ("Kingma & Ba (2015), algorithm 2", "beta1=0.9, beta2=0.999"),
    "amsgrad": ("Reddi et al. (2018), algorithm 2", "beta1=None, beta2=None"),
    "adamw": ("Loshchilov & Hutter (2019), algorithm 2", "beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=None"),
    "nadam": ("Dozat (2016), algorithm 2", "mu=0.99, nu=0.999, epsilon=1e-8, momentum_decay=0.004"),
    "radam": ("Liu et al. (2020), algorithm 2", "beta1=None, beta2=None"),
    "adagrad": ("Duchi et al. (2011), figure 1", "delta=None"),
    "adadelta": ("Zeiler (2012), algorithm 1", "rho=0.95, epsilon=1e-6"),
    "ftrl": ("McMahan et al. (2013), algorithm 1", "beta=1.0, lambda1=None, lambda2=None"),
    "lars": ("You et al. (2017), algorithm 1", "momentum=0.9, weight_decay=0.0005, eta=0.001"),
    "lamb": ("You et al. (2020), algorithm 2", "beta1=0.9, beta2=0.999, epsilon=1e-6, weight_decay=0.01"),
    "lion": ("Chen et al. (2023), algorithm 2", "beta1=0.9, beta2=0.99, weight_decay=None"),
    "adabelief": ("Zhuang et al. (2020), algorithm 2", "beta1=0.9, beta2=0.999, epsilon=1e-8"),
    "yogi": ("Zaheer et al. (2018), algorithm 2", "beta1=0.9, beta2=0.999, epsilon=1e-3"),
    "novograd": (
        "Ginsburg et al. (2019), algorithm 1",
        "beta1=0.95, beta2=0.98, epsilon=1e-8, weight_decay=None",
    ),
    "adan": ("Xie et al. (2022), algorithm 1", "beta1=0.02, beta2=0.08, beta3=0.01, epsilon=1e-8, weight_decay=None"),
    "adafactor": ("Shazeer & Stern (2018), algorithms 4 and 5", "c=0.8, eps1=1e-30, eps2=1e-3, d=1.0"),
    "adopt": ("Taniguchi et al. (2024), clipped ADOPT", "beta1=0.9, beta2=0.9999, epsilon=1e-6"),
    "qhm": ("Ma & Yarats (2019), equations 3 and 4", "nu=0.7, beta=0.999"),
    "qhadam": ("Ma & Yarats (2019), QHAdam", "nu1=None, nu2=None, beta1=None, beta2=None, epsilon=None"),
    "laprop": ("Ziyin et al. (2020), LaProp", "mu=0.9, nu=0.999, epsilon=1e-15"),
    "ademamix": (
        "Pagliardini et al. (2024), algorithm 1",
        "beta1=0.9, beta2=0.999, beta3=0.9999, alpha=None, epsilon=1e-8, weight_decay=None",
    ),
    "madgrad": ("Defazio & Jelassi (2021), algorithm 1", "c=None, epsilon=None"),
    "ftml": ("Zheng & Kwok (2017), algorithm 1", "beta1=0.6, beta2=0.999, epsilon=1e-8"),
    "adamod": ("Ding et al. (2019), AdaMod", "beta1=0.9, beta2=0.999, beta3=None, epsilon=1e-8"),
    "signum": ("Bernstein et al. (2018), algorithm 2", "beta=None"),
}
"""For each rule: its publication, and its hyperparameters with their defaults, None where none is recommended."""


def test_the_book_has_these_rules() -> None:
    assert set(BOOKS["papers"]) == {f"papers.{name}" for name in DECLARED}


@pytest.mark.parametrize("name", DECLARED)
def test_a_rule_has_the_hyperparameters_of_its_publication_and_corners_for_each(name: str) -> None:
    document, hyperparameters = DECLARED[name]
    rule = BOOKS["papers"][f"papers.{name}"]
    assert (rule.book, rule.__name__.lower()) == ("papers", name)
    assert rule.document() == document
    assert [(x.name, x.default) for x in rule.hyperparameters()] == list(eval(f"dict({hyperparameters})").items())
    assert [x.name for x in rule.hyperparameters() if len(x.corners) < 2] == []
    assert [x.name for x in rule.hyperparameters() if x.default is not None and x.default not in x.corners] == []


def test_a_quotient_is_0_where_nothing_is_below_and_hides_no_nan() -> None:
    above, below = np.array([1.0, np.nan, 2.0, 3.0]), np.array([0.0, 4.0, np.nan, 2.0])
    np.testing.assert_array_equal(quotient(above, below), [0.0, np.nan, np.nan, 1.5])
