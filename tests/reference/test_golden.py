"""What real PaddlePaddle computed is explained, case by case, within the derived bound."""

import pytest

from tests.reference import golden_cases

RULES = [(file, i) for file in golden_cases.FILES for i in range(len(golden_cases.cases(file)))]
DOCUMENTED_IN_FLOAT32 = {"sgd", "momentum", "adagrad", "decayed_adagrad", "adamax", "rmsprop"}
"""Rules of which both libraries compute the document in float32, with every hyperparameter that was tried."""


def label(case):
    file, number = case
    stored = golden_cases.cases(file)[number]
    return f"{file}-{stored['rule']}-{stored['name']}-{stored['dtype']}"


def test_every_case_is_there():
    assert [len(golden_cases.cases(file)) for file in golden_cases.FILES] == [84, 90, 8]
    assert len(golden_cases.wrapper_cases()) == 35


@pytest.mark.parametrize("case", RULES, ids=label)
def test_a_rule_explains_what_the_library_computed(case):
    file, number = case
    verdict, stored = golden_cases.verdict(file, number), golden_cases.cases(file)[number]
    assert verdict is not None
    if stored["rule"] in DOCUMENTED_IN_FLOAT32 and stored["dtype"] == "float32":
        assert str(verdict) == "documented"


@pytest.mark.parametrize(
    "number",
    range(35),
    ids=lambda i: "-".join(golden_cases.wrapper_cases()[i][k] for k in ("wrapper", "name", "dtype")),
)
def test_a_wrapper_explains_what_the_library_computed(number):
    assert golden_cases.wrapper_verdict(number) is not None


def test_a_wrong_rule_explains_nothing():
    """The same bound, on the documented rule with another decay: the test would notice."""
    stored = golden_cases.cases("fluid185")
    number = next(i for i, each in enumerate(stored) if each["rule"] == "adam" and each["dtype"] == "float32")
    changed = dict(stored[number]) | {"hyper": stored[number]["hyper"] | {"beta1": 0.875}}
    assert golden_cases.explained(changed) is None


def test_the_page_is_not_stale():
    assert golden_cases.PAGE.read_text(encoding="utf-8") == golden_cases.page(), (
        "docs/real-libraries.md is stale: run `python -m tests.reference.golden_cases`"
    )
