"""Where parameters depend on each other, what becomes of one alone says which rule goes with what the run does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.naming.candidates import tiers_of_runs
from optimetry.conformance.naming.known.counting import plain_case
from optimetry.conformance.naming.known.elsewhere import dialects_elsewhere, rules_elsewhere
from optimetry.conformance.naming.known.points import PointClass, classes_of
from optimetry.conformance.selftest.faults.hooks import Grads, HookedRun, Hooks
from optimetry.conformance.selftest.faults.recipes import clipped_together, each_clipped
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array, Rule
from optimetry.reference.training import Training
from optimetry.reports.results import Verdict
from tests.conformance.judged import verdict_of

LAMB = "lamb:bias_corrected_zero_decay_ratio_one"
IN_TURN = "counts the updates of all parameters in turn"


class OneCount(Training):
    """One count that every update of every parameter advances, as of an optimizer that is called for each."""

    def step(self, grads: Sequence[Array | None], lr: Any) -> list[Array]:
        for i, grad in enumerate(grads):
            if grad is not None:
                self.updates[i] = max(self.updates)
                super().step([grad if other == i else None for other in range(len(grads))], lr)
        return list(self.parameters)


class Pinned(Instead):
    """A target whose epsilon is a constant, with which no probe tells where that is added."""

    pinned: Mapping[str, Mapping[str, Any]] = {"adam": {"epsilon": 1e-9}}


def judged(optimizer: str, rule: PointClass, kind: type[Instead] = Instead) -> Verdict:
    def begin(documented: Declared, parameters: list[Array]) -> RuleRun:
        computed: Any = rule.of(documented.hyper())
        run = RuleRun(computed, parameters)
        run.training = OneCount(computed, parameters)
        return run

    return verdict_of(kind(begin, optimizer), optimizer, "float32", Effort("alone", cases=40, law_cases=3))


def test_a_dialect_of_another_book_may_count_so() -> None:
    (rule,) = (rule for rule in dialects_elsewhere("papers.adam") if rule.name == "adam:scaled_epsilon_inside")
    verdict = judged("papers.adam", rule)
    assert [str(part) for part in verdict.computes.parts] == [f"adam:scaled_epsilon_inside, but {IN_TURN}"]


@pytest.mark.parametrize(
    ("optimizer", "name", "clip", "words"),
    [
        ("papers.lamb", LAMB, clipped_together, "scales all gradients together to a norm of at most 1"),
        ("papers.lamb", LAMB, each_clipped, "scales each gradient to a norm of at most 1"),
        ("papers.adam", "adam", each_clipped, "scales each gradient to a norm of at most 1"),
    ],
)
def test_a_clip_stands_beside_a_rule_of_another_book_that_small_gradients_show(
    optimizer: str, name: str, clip: Callable[[Grads], Grads], words: str
) -> None:
    """As the LAMB of NVIDIA, MMPretrain's and timm's, and GrokAdamW: alone, a parameter is clipped as well."""
    known = (*rules_elsewhere(optimizer), *dialects_elsewhere(optimizer))
    (rule,) = (rule for rule in known if rule.name == name)

    def begin(documented: Declared, parameters: list[Array]) -> RuleRun:
        return HookedRun(cast(Rule, rule.of(documented.hyper())), parameters, Hooks(grads=clip))

    effort = Effort("alone", cases=20, law_cases=3)
    verdict = verdict_of(Instead(begin, optimizer), optimizer, "float32", effort)
    assert [str(part) for part in verdict.computes.parts] == [f"{name}, but {words}"]


@pytest.mark.parametrize("kind", [Instead, Pinned])
def test_a_choice_that_has_no_name_may_count_so(kind: type[Instead]) -> None:
    """As in tiny-dnn, whose epsilon is a constant, and whose powers of the decays are one ahead."""
    axes = "epsilon_placement=scaled_inside, correction_count=t+1"
    (rule,) = (rule for rule in classes_of("adam") if rule.name == axes)
    assert [str(part) for part in judged("adam", rule, kind).computes.parts] == [f"{axes}, but {IN_TURN}"]


@pytest.mark.parametrize(
    ("optimizer", "pinned", "other"),
    [("papers.ftrl", {"beta"}, "ftrl"), ("papers.adam", {}, "adam"), ("adam", {}, "lamb")],
)
def test_what_is_done_beside_another_rule_is_done_with_its_state(
    optimizer: str, pinned: Collection[str], other: str
) -> None:
    (rule,) = (rule for rule in rules_elsewhere(optimizer, frozenset(pinned)) if rule.name == other)
    case = plain_case(optimizer, "float32")
    tiers = tiers_of_runs(optimizer, "float32", [rule])
    beside = [mistaken for tier in tiers for mistaken in tier if mistaken.rule == rule]
    assert len(beside) >= 5
    assert all(mistaken.expected(case).value.shape == (len(case.grads), case.size) for mistaken in beside)
