"""What real PaddlePaddle computed is explained, case by case, within the derived bound."""

from tests.reference import golden_cases

DOCUMENTED_IN_FLOAT32 = {"sgd", "momentum", "adagrad", "decayed_adagrad", "adamax", "rmsprop"}
"""Rules of which both libraries compute the document in float32, with every hyperparameter that was tried."""


def test_every_case_is_there():
    assert [len(golden_cases.cases(file)) for file in golden_cases.FILES] == [84, 90, 8]
    assert len(golden_cases.wrapper_cases()) == 35


def test_every_case_is_explained():
    for kind, by_library in golden_cases.counts().items():
        rule, dtype = kind.split()
        for explanations in by_library.values():
            assert "None" not in explanations, kind
            if rule in DOCUMENTED_IN_FLOAT32 and dtype == "float32":
                assert list(explanations) == ["documented"], kind


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
