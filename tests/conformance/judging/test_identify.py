"""What a rejected target computes: one explanation, from the first tier in which any holds, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying import identify as identifying
from optimetry.conformance.judging.identifying.identify import identify
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.families.clips import RoundedClipByNorm
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.hooks import HookedRun, Hooks
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.selftest.known_targets import HALF_QUICK
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reports.results import Computes
from tests.conformance.judged import QUICK, class_named, dialect_named, flushed, verdict_of, with_hooks, without_lines

FLUSHES, INCREMENTS = Arithmetic(flushes_subnormals=True), Arithmetic(incremental_moments=True)


class Once(float):
    """A number that is rounded to float32 where it is subtracted from 1, and nowhere else."""

    def __rsub__(self, other: Any) -> Any:
        return other - to_float32(self)


def planted(optimizer: str, name: str, arithmetic: Arithmetic) -> Instead:
    """A target that computes a class in this arithmetic."""
    throughout = Explanation(
        class_named(optimizer, name), replace(arithmetic, flushes_subnormals=False, float32_in_some_uses=())
    )
    flush = dict.fromkeys(("gradient", "slot"), flushed) if arithmetic.flushes_subnormals else {}

    def begin(documented: Any, parameters: list[Array]) -> HookedRun:
        rule: Any = throughout.computed(documented.hyper())
        rule = rule.lifted(lambda name, x: Once(x) if name in arithmetic.float32_in_some_uses else x)
        return HookedRun(rule, parameters, Hooks(**flush))

    return Instead(begin, optimizer)


BETA1, PARTLY = Arithmetic(float32=("beta1",)), Arithmetic(float32_in_some_uses=("beta1",))
UNNAMED = "epsilon_placement=inside, decay=with_lr"

WITHOUT_LAWS = replace(HALF_QUICK, law_cases=0)
"""Laws decide nothing here."""

# One target for each tier, in which no tier before it holds.
TIERS = [
    ("float32", "adam", "scaled_epsilon", PLAIN),
    ("float32", "adam", UNNAMED, PLAIN),
    ("float32", "adamax", "documented", INCREMENTS),
    ("float64", "adam", "documented", BETA1),
    ("float64", "adam", "documented", PARTLY),
    ("float64", "adam", "scaled_epsilon", PARTLY),
    ("float64", "adam", UNNAMED, PARTLY),
    ("float32", "momentum", "documented", FLUSHES),
    ("float32", "momentum", "dampened_after_first_step", FLUSHES),
    ("float32", "momentum", "dampening=always, nesterov_sign=minus", FLUSHES),
    ("float32", "adamax", "documented", Arithmetic(flushes_subnormals=True, incremental_moments=True)),
    ("float64", "adam", "scaled_epsilon", Arithmetic(flushes_subnormals=True, float32_in_some_uses=("beta1",))),
]


@pytest.mark.parametrize(("dtype", "optimizer", "name", "arithmetic"), TIERS)
def test_every_tier_finds_what_only_it_explains(dtype: str, optimizer: str, name: str, arithmetic: Arithmetic) -> None:
    verdict = verdict_of(planted(optimizer, name, arithmetic), optimizer, dtype, WITHOUT_LAWS)
    assert verdict.computes.rule == name, verdict.reason
    assert verdict.computes.arithmetic == arithmetic.record()
    assert (verdict.computes.formula is None) == (name == "documented")
    if name != "documented":
        assert (verdict.verdict, verdict.dialect) == ("dialect", name)
    else:
        assert (verdict.verdict, verdict.dialect) == ("imprecise" if arithmetic.imprecise else "conforms", None)


@dataclass(frozen=True, kw_only=True)
class LimitInFloat32(RoundedClipByNorm):
    """Multiplies by a limit rounded to float32, and compares with the limit as it is."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        clipped, state = super().feed(fed, parameters, state)
        return [x / self.clip_norm * to_float32(self.clip_norm) for x in clipped], state


@pytest.mark.parametrize("kind", [RoundedClipByNorm, LimitInFloat32])
@pytest.mark.parametrize("float32_norm", [False, True])
def test_a_clip_may_hold_its_norm_its_limit_or_both_in_float32(kind: Any, float32_norm: bool) -> None:
    target = Instead(
        lambda documented, parameters: run_of(kind(**documented.hyper(), float32_norm=float32_norm), parameters)
    )
    verdict = verdict_of(target, "clip_by_norm", "float64")
    ways = [{"float32": ["norm"]}] * float32_norm + [{"float32_in_some_uses": ["clip_norm"]}] * (kind is LimitInFloat32)
    assert verdict.computes.arithmetic == ways
    assert (verdict.verdict, verdict.computes.rule) == ("imprecise" if ways else "conforms", "documented")


def identified(target: Any, optimizer: str = "adam", dtype: str = "float32") -> Identity:
    def cases() -> Iterator[Case]:
        return drawn_cases(subject_named(optimizer), dtype, seed=0, count=12)

    return identify(Observed.of(target, optimizer, dtype, cases, Guard()))


def test_a_tier_in_which_two_hold_decides_that_there_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later tier, in which one alone holds, must not give one after all."""
    documented = documented_class("adam")
    both = [Explanation(documented, FLUSHES), Explanation(documented, INCREMENTS)]
    alone = Explanation(documented)

    def tiers_of(*tiers: list[Explanation]) -> None:
        monkeypatch.setattr(identifying, "tiers", lambda optimizer, dtype, probed: iter(tiers))

    for explanation in (*both, alone):
        tiers_of([explanation])
        assert identified(NumpyTarget()).explanation == explanation, "each must hold for this test to mean anything"
    tiers_of(both, [alone])
    assert identified(NumpyTarget()).explanation is None
    tiers_of([Explanation(class_named("adam", "scaled_epsilon"))], [], [alone])
    assert identified(NumpyTarget()).explanation == alone, "where none holds, the next tier is tried"


def test_an_identity_says_how_far_the_target_is_from_the_document_and_from_what_explains_it() -> None:
    identity = identified(computing(class_named("adam", "scaled_epsilon")))
    assert identity.explanation == Explanation(class_named("adam", "scaled_epsilon"))
    assert identity.tried == 12
    assert identity.from_explanation.share <= 1 < 100 < identity.from_document.share
    assert identity.from_document.elements == identity.from_explanation.elements > 0
    nothing = identified(with_hooks(rate=lambda rates: 2.0))
    assert nothing.explanation is None
    assert nothing.from_document == nothing.from_explanation == Agreement()
    assert nothing.tried == 0, "no candidate holds in the probes"
    tried = identified(with_hooks(rate=lambda rates: 2.0), "sgd")
    assert tried.explanation is None
    assert tried.tried > 0, "SGD has no probes, so cases are run"
    assert tried.from_document.elements > 0
    assert tried.from_explanation == Agreement()


def test_where_subnormals_are_flushed_the_error_ratio_allows_for_that() -> None:
    verdict = verdict_of(planted("sgd", "documented", FLUSHES), "sgd", "float32", QUICK)
    assert (verdict.verdict, verdict.reason) == ("conforms", "")
    assert verdict.computes == Computes("documented", None, False, ["flushes_subnormals"])
    assert verdict.share is not None
    assert verdict.share <= 1
    assert verdict.counterexample is None


def test_a_target_is_fed_a_case_once_for_all_candidates() -> None:
    """Those of its own book, then those of others, of which two hold as well; also where each pass makes cases anew."""
    fed: Counter[bytes] = Counter()

    def begin(documented: Any, parameters: list[Array]) -> Any:
        fed[bits(parameters)] += 1
        return run_of(class_named("adam", "scaled_epsilon").of(documented.hyper()), parameters)

    def cases() -> Iterator[Case]:
        return (case.replace() for case in drawn_cases(subject_named("adam"), "float32", seed=0, count=12))

    observed = Observed.of(Instead(begin, "adam"), "adam", "float32", cases, Guard())
    identity = identify(observed)
    assert (identity.tried, identity.elsewhere) == (12, ("papers.adam", "torch.adam"))
    assert {fed[bits(case.parameters)] for case in cases()} == {1}
    assert identity.explanation is not None
    for _ in range(2):
        assert observed.holding(identity.explanation.with_numbers(("beta1",))) is not None
    assert {fed[bits(case.parameters)] for case in cases()} == {2}, "once more, with short numbers"


def bits(arrays: Sequence[Array]) -> bytes:
    return b"".join(array.tobytes() for array in arrays)


def test_a_target_that_breaks_while_it_is_identified_is_an_error() -> None:
    probed = [case.parameters[0] for case in probes_of("adagrad", "float32")]

    def begin(documented: Any, parameters: list[Array]) -> Any:
        if any(np.array_equal(parameters[0], probe) for probe in probed):
            raise ValueError("not this case")
        return run_of(dialect_named("adagrad", "epsilon_inside").of(documented.hyper()), parameters)

    verdict = verdict_of(Instead(begin), "adagrad", effort=Effort("no laws", 20, 0))
    assert (verdict.verdict, without_lines(verdict.reason)) == ("error", "raised ValueError: not this case")
    assert verdict.counterexample is not None
    shown = Case.from_json(verdict.counterexample["case"]).parameters[0]
    assert any(np.array_equal(shown, probe) for probe in probed)
