"""Hypothesis' own engine: the accelerated backend against the reference, and what its shrinking explains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings

from optimetry.conformance.cases.case import Case, replayed
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.plugin import properties
from optimetry.conformance.plugin.properties import PROFILES, Nonconformity, hold_property
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.known_targets import judged
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget
from tests.conformance.judged import IN_DTYPES

ACCELERATED = engines_of(load_target("accelerated"))
ENGINES = {
    "float16": ACCELERATED[::2],
    "bfloat16": ACCELERATED[1::2],
    "float32": [NumpyTarget(), *ACCELERATED],
    "float64": ACCELERATED[:1],
}
"""All in one dtype, and in each dtype some: `test_equality.py` holds engines to the bits of each other."""


def profile() -> settings:
    """The profile that pytest was asked for: ``--hypothesis-profile ci``."""
    return PROFILES.get(settings.get_current_profile_name(), PROFILES["dev"])


@pytest.mark.parametrize(("name", "dtype"), IN_DTYPES)
def test_every_engine_computes_what_is_documented(name: str, dtype: str) -> None:
    hold_property(ENGINES[dtype], subject_named(name), dtype, profile())


def test_a_fault_that_only_this_shrinking_explains_in_one_element_and_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cutting a failing tensor smaller never leaves seventeen elements behind but for one: drawing anew does."""
    monkeypatch.setattr(properties, "replayed", lambda name, dtype: ())  # a kept case that fails is not shrunk
    fault = replace(FAULTS["tail_of_one_element"], optimizer="adam")
    counterexample = judged(fault, "float32").counterexample
    assert counterexample is not None
    assert Case.from_json(counterexample["case"]).size > 1
    with pytest.raises(Nonconformity, match="a standalone script") as caught:
        hold_property([fault.target()], subject_named("adam"), "float32", PROFILES["ci"])
    assert caught.value.case is not None
    assert (caught.value.case.size, len(caught.value.case.grads)) == (1, 1)


def test_cases_that_once_failed_are_tried_first() -> None:
    tried: list[str] = []

    class Watched(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: object, dtype: str) -> str | None:
            tried.append(optimizer)
            return "only counted" if len(tried) <= len(kept) else None

    kept = replayed("sgd", "float64")
    assert any(param.ndim == 0 for case in kept for param in case.parameters)
    hold_property([Watched()], subject_named("sgd"), "float64", PROFILES["dev"])
    assert len(tried) >= len(kept) + 1
