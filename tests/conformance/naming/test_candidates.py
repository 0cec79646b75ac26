"""The explanations that are tried beside the documented formula: how each is computed, and the order of the tiers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.candidates import tiers
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.subjects.registry import SUBJECTS
from tests.conformance.comparisons import HYPERS, cases_of, most, on_bounds
from tests.conformance.judged import class_named


def in_float32(optimizer: str, *names: str) -> Explanation:
    return Explanation(documented_class(optimizer), Arithmetic(float32=names))


def test_float32_rounding_goes_past_the_domain() -> None:
    rounded = in_float32("adam", "beta1", "beta2", "epsilon").computed({"beta2": 0.99999999})
    assert rounded.hyper() == {"beta1": to_float32(0.9), "beta2": 1.0, "epsilon": to_float32(1e-8)}
    alone = in_float32("adam", "beta1").computed({"beta2": 0.99999999})
    assert alone.hyper() == {"beta1": to_float32(0.9), "beta2": 0.99999999, "epsilon": 1e-8}
    assert to_float32(0.9) != 0.9
    assert to_float32(1e300) == np.inf


def test_float32_rounding_leaves_counts_and_flags_alone() -> None:
    everything = in_float32("asgd", *SUBJECTS["asgd"].numbers)
    assert everything.computed({"batch_num": 3, "weight_decay": 0.1}).hyper() == {
        "batch_num": 3,
        "weight_decay": to_float32(0.1),
    }
    assert everything.reason == "the documented rule; weight_decay, learning_rate in float32"


def test_float32_rounding_applies_to_a_dialect() -> None:
    scaled = class_named("adam", "scaled_epsilon")
    rounded: Any = Explanation(scaled, Arithmetic(float32=("beta2",))).computed({})
    assert rounded.beta2 == to_float32(0.999)
    assert rounded.beta1 == 0.9
    assert rounded.epsilon_placement == "scaled"


HIDDEN = {"papers.lion": {"beta1", "beta2"}, "torch.muon": {"momentum", "eps", "a", "b", "c"}}
"""Numbers of which the sign of a sum is all that counts, so that a rounding shows only where the sum is nearly 0, and
those of what may be computed in bfloat16."""


@pytest.mark.parametrize("name", HYPERS)
def test_no_two_choices_of_numbers_in_float32_are_the_same_in_float64(name: str) -> None:
    """They are tried as one tier, in which only one may explain a target."""
    explanations = [explanation for tier in tiers(name, "float64", Probed(name, "float64", ())) for explanation in tier]
    chosen = [
        explanation for explanation in explanations if explanation.rule.documented and explanation.arithmetic.float32
    ]
    assert len(chosen) >= len(SUBJECTS[name].numbers)
    runs = {}
    for explanation in (Explanation(documented_class(name)), *chosen):
        rounds = "learning_rate" in explanation.arithmetic.float32
        cases = [
            x.replace(learning_rates=tuple(map(to_float32, x.learning_rates))) if rounds else x
            for x in cases_of(name, np.float64)
        ]
        runs[explanation.arithmetic.float32] = [on_bounds(case, explanation.computed(case.hyper)) for case in cases]
    for (first, a), (second, b) in combinations(runs.items(), 2):
        if {*first} ^ {*second} <= HIDDEN.get(name, set()):
            continue
        assert most(a, b) > 20, f"{first} and {second} agree"
