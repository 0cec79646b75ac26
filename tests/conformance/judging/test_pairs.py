"""Two things beside a rule: one of them alone shows in a run of small gradients, or in its first steps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.pairs import pairs
from optimetry.conformance.naming.alterations import Alteration
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.selftest.faults import FAULTS, FaultyTarget
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import with_hooks


def tiers(target: Any, optimizer: str) -> list[list[Mistaken]]:
    """What is tried beside the documented rule."""
    drawn = list(drawn_cases(subject_named(optimizer), "float32", seed=0, count=4))
    observed = Observed.of(target, optimizer, "float32", partial(iter, drawn), Guard())
    return list(pairs(observed, [documented_class(optimizer)], lambda mistake: True))


def firsts(name: str) -> set[str]:
    """What shows by itself of a fault, whatever is tried beside it."""
    fault = FAULTS[name]
    runs = [mistaken.mistake.run for tier in tiers(FaultyTarget(fault), fault.optimizer) for mistaken in tier]
    return set.intersection(*({run["finding"], run["also"][0]["finding"]} for run in runs))


def test_small_gradients_are_not_clipped() -> None:
    assert firsts("clipped_and_cautious") == {"cautious"}
    assert firsts("clipped_within_lookahead") == {"lookahead"}


def test_what_happens_every_few_steps_does_not_happen_in_the_first() -> None:
    assert firsts("cautious_within_lookahead") == {"cautious"}


def test_both_orders_are_tried() -> None:
    """The later alters what the earlier makes of the rule."""
    found = tiers(FaultyTarget(FAULTS["clipped_then_centred"]), "momentum")
    recorded = {(x.mistake.run["finding"], x.mistake.run["also"][0]["finding"]) for tier in found for x in tier}
    assert {("centred", "limited"), ("limited", "centred")} <= recorded
    assert not any(x.mistake.loses_digits for tier in found for x in tier)


def test_what_changes_nothing_in_common_is_tried_in_one_order() -> None:
    fed, updated, stepped = Mistake(fed=lambda case: case), _altered(update=_plain), _altered(step=_plain)
    assert fed.commutes(updated)
    assert updated.commutes(stepped)
    assert not updated.commutes(_altered(update=_plain))
    found = tiers(FaultyTarget(FAULTS["clipped_within_lookahead"]), "rmsprop")
    assert all(found)
    recorded = [(x.mistake.run["finding"], x.mistake.run["also"][0]["finding"]) for tier in found for x in tier]
    assert ("lookahead", "clipped") in recorded
    assert ("clipped", "lookahead") not in recorded  # a clip is fed, and alters no step


def test_what_shows_in_several_runs_is_tried_once() -> None:
    """What explains a run explains its first steps, which are runs of their own."""
    found = tiers(FaultyTarget(FAULTS["clipped_then_centred"]), "momentum")
    recorded = [str([x.mistake.run for x in tier]) for tier in found]
    assert len(set(recorded)) == len(recorded) > 0


def _plain(*inputs: Any) -> Any:
    raise NotImplementedError


def _altered(**how: Any) -> Mistake:
    return Mistake(alteration=Alteration(**how))


def test_of_the_documented_rule_nothing_shows() -> None:
    assert tiers(with_hooks("sgd"), "sgd") == []


def test_what_nearly_everything_explains_shows_nothing() -> None:
    """A first step that is none is explained by whatever leaves it out, and the others by nothing that is listed."""
    by_steps = with_hooks("sgd", rate=lambda rates: rates[-1] * (np.cos(len(rates)) if len(rates) > 1 else 0.0))
    assert tiers(by_steps, "sgd") == []


def test_wrappers_have_no_pairs() -> None:
    assert tiers(with_hooks("sgd"), "clip_by_norm") == []
