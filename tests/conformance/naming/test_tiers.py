"""The explanations of a target, in the order in which they are tried."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimetry.conformance.naming.candidates import FLUSHED, tiers, tiers_combined
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.subjects.registry import subject_named

IN_PARTS = Arithmetic(step_in_parts=True)
UNNAMED = PointClass("adam", "unnamed", ({"epsilon_placement": "elsewhere"},))
IN_FLOAT32 = PointClass("adam", "unnamed in float32", ({"epsilon_placement": "elsewhere"},))


@dataclass(frozen=True)
class Found(Probed):
    """Probes that one unnamed class explains, and another where numbers may be held in float32."""

    def classes(self, narrow: tuple[str, ...] = ()) -> list[PointClass]:
        named = named_classes(self.optimizer)[:1]
        return [documented_class(self.optimizer), *named, IN_FLOAT32 if narrow else UNNAMED]


def tried(optimizer: str, dtype: str) -> list[list[tuple[str, Arithmetic]]]:
    return [
        [(explanation.rule.name, explanation.arithmetic) for explanation in tier]
        for tier in tiers(optimizer, dtype, Found(optimizer, dtype, ()))
    ]


def names(optimizer: str) -> list[str]:
    return [point_class.name for point_class in named_classes(optimizer)]


def test_in_float32_rules_come_before_arithmetic() -> None:
    increments = Arithmetic(incremental_moments=True)
    flushed = Arithmetic(flushes_subnormals=True, incremental_moments=True)
    named = names("adam")
    assert tried("adam", "float32") == [
        [(name, PLAIN) for name in named],
        [("unnamed", PLAIN)],
        [(name, increments) for name in ("documented", *named, "unnamed")],
        [("documented", IN_PARTS)],
        [("documented", FLUSHED)],
        [(name, FLUSHED) for name in named],
        [("unnamed", FLUSHED)],
        [(name, flushed) for name in ("documented", *named, "unnamed")],
        [("documented", replace(IN_PARTS, flushes_subnormals=True))],
    ]


def test_in_float64_numbers_may_be_held_in_float32() -> None:
    numbers = ("beta1", "beta2", "epsilon", "learning_rate")
    chosen = [*((name,) for name in numbers), numbers[:3], numbers]
    partly, increments = Arithmetic(float32_in_some_uses=numbers), Arithmetic(incremental_moments=True)
    named = names("adam")
    assert tried("adam", "float64") == [
        [(name, PLAIN) for name in named],
        [("unnamed", PLAIN)],
        [(name, increments) for name in ("documented", *named, "unnamed")],
        [("documented", IN_PARTS)],
        [("documented", Arithmetic(float32=some)) for some in chosen],
        [("documented", partly)],
        [(name, partly) for name in named],
        [("unnamed in float32", partly)],
        [("documented", FLUSHED)],
        [(name, FLUSHED) for name in named],
        [("unnamed", FLUSHED)],
        [(name, replace(increments, flushes_subnormals=True)) for name in ("documented", *named, "unnamed")],
        [("documented", replace(IN_PARTS, flushes_subnormals=True))],
        [("documented", replace(FLUSHED, float32=some)) for some in chosen],
        [("documented", replace(FLUSHED, float32_in_some_uses=numbers))],
        [(name, replace(FLUSHED, float32_in_some_uses=numbers)) for name in named],
        [
            (name, replace(FLUSHED, float32_in_some_uses=numbers, incremental_moments=True))
            for name in ("documented", *named, "unnamed in float32")
        ],
    ]


def test_a_clip_may_hold_its_norm_in_float32_beside_float64() -> None:
    named = names("clip_by_norm")
    norm, partly = Arithmetic(float32_norm=True), Arithmetic(float32_in_some_uses=("clip_norm",))
    both = Arithmetic(float32_in_some_uses=("clip_norm",), float32_norm=True)
    declared = [tier for tier in tried("clip_by_norm", "float64") if tier and "unnamed" not in tier[0][0]]
    assert declared[:6] == [
        [(name, PLAIN) for name in named],
        [("documented", Arithmetic(float32=("clip_norm",)))],
        [("documented", partly)],
        [("documented", norm)],
        [("documented", both)],
        [(name, partly) for name in named],
    ]
    assert all(not arithmetic.float32_norm for tier in tried("clip_by_norm", "float32") for _, arithmetic in tier)


def test_the_factor_of_a_decay_may_be_held_in_float32_beside_float64() -> None:
    """Alone before dialects; with other numbers, whose bound is wide, behind numbers that are combined."""
    numbers = subject_named("torch.adamw").numbers
    decay, both = Arithmetic(float32_decay=True), Arithmetic(float32_in_some_uses=numbers, float32_decay=True)
    ways = [tier[0] for tier in tried("torch.adamw", "float64") if tier]
    partly = ("documented", Arithmetic(float32_in_some_uses=numbers))
    assert ways[ways.index(partly) + 1] == ("documented", decay)
    assert [tier[0].arithmetic for tier in tiers_combined("torch.adamw", "float64")][:2] == [
        replace(both, combined=True, float32_decay=False),
        both,
    ]
    for optimizer, dtype in (("adam", "float64"), ("torch.adamw", "float32")):
        assert all(not arithmetic.float32_decay for tier in tried(optimizer, dtype) for _, arithmetic in tier)


def test_an_average_may_be_formed_as_increments() -> None:
    increments = Arithmetic(incremental_moments=True)
    expected = [(name, increments) for name in ("documented", *names("exponential_moving_average"))]
    assert [*expected, ("unnamed", increments)] in tried("exponential_moving_average", "float32")


def test_a_wrapper_subtracts_nothing() -> None:
    assert all(not arithmetic.step_in_parts for tier in tried("clip_by_norm", "float64") for _, arithmetic in tier)


def test_a_rule_without_moments_is_not_tried_with_increments() -> None:
    assert [] in tried("sgd", "float32")
    assert all(not arithmetic.incremental_moments for tier in tried("sgd", "float64") for _, arithmetic in tier)
