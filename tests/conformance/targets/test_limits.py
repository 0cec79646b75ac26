"""What is refused of the attributes by which a target says what its library cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from optimetry.conformance.targets.loading import made
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.reference.errors import TargetError


class Mine(NumpyTarget):
    """A target that bounds a hyperparameter."""

    name = "mine"
    pinned: Mapping[str, Mapping[str, Any]] = {"adam": {"beta1": 0.5}}


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        (
            "cannot",
            {"missing gradient"},
            "cannot: unknown word 'missing gradient', must be one of: missing gradients, ",
        ),
        ("cannot", {"missing gradient"}, "did you mean missing gradients?"),
        ("cannot", "missing gradients", "cannot = 'missing gradients', must be a collection of names"),
        ("cannot", 3, "cannot = 3, must be a collection of names"),
        ("dtypes", ["float31"], "dtypes: unknown dtype 'float31', must be one of: float16, bfloat16, float32, float64"),
        ("pinned", ["adam"], "pinned = ['adam'], must be a mapping from optimizers to hyperparameters and values"),
        ("pinned", {"adam": "epsilon"}, "must be a mapping from optimizers"),
        ("pinned", {"adm": {}}, "pinned: unknown optimizer 'adm', must be one of: adadelta, "),
        (
            "pinned",
            {"adam": {"lazy_mode": False}},
            "pinned: adam: unknown hyperparameter 'lazy_mode', must be one of: ",
        ),
        ("pinned", {"adam": {"epsilon": -1}}, "pinned: adam: epsilon = -1, must be in [0, inf)"),
        ("pinned", {"adam": {"learning_rate": 0}}, "pinned: adam: learning_rate = 0, must be in (0, inf)"),
        ("pinned", {"l2_decay": {"learning_rate": 1}}, "pinned: l2_decay: unknown hyperparameter 'learning_rate'"),
        ("at_most", {"adam": {"learning_rate": 1}}, "at_most: adam: unknown hyperparameter 'learning_rate'"),
        ("at_most", {"adam": {"epsilon": -1}}, "at_most: adam: epsilon = -1, must be in [0, inf)"),
        (
            "at_most",
            {"rmsprop": {"centered": True}},
            "at_most: rmsprop: centered is a flag, which has no largest value",
        ),
        ("at_most", {"adam": {"beta1": 0.5}}, "at_most: adam: beta1 is pinned, and needs no largest value"),
    ],
)
def test_a_wrong_attribute_is_refused_when_the_target_is_loaded(attribute: str, value: Any, expected: str) -> None:
    wrong = type("Wrong", (Mine,), {attribute: value})
    with pytest.raises(TargetError) as caught:
        made(wrong, "mine:Wrong")
    assert str(caught.value).startswith("target mine:Wrong: ")
    assert expected in str(caught.value)


def test_the_attributes_of_every_engine_are_held() -> None:
    class Several(NumpyTarget):
        def engines(self) -> list[Any]:
            return [NumpyTarget(), type("Wrong", (Mine,), {"cannot": {"much"}, "engine": "wrong"})()]

    with pytest.raises(TargetError, match="unknown word 'much'"):
        made(Several(), "mine:Several")
    assert made(Mine, "mine:Mine").name == "mine"
