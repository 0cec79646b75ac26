"""The suite mistakes no honest equivalent for another rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.laws import laws_of
from optimetry.conformance.selftest.equivalents import STYLES, Style, StyledTarget, rules_of
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.sensitivity import DTYPES, equivalents
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.numpy.wrappers import AverageFeed, GradientFeed
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rules import RULES
from tests.conformance.judged import label, verdict_of

EFFORT = Effort("equivalents", cases=8, law_cases=0)


def short_case(optimizer: str, dtype: str) -> Case:
    """The first case with some steps and few: laws run a target dozens of times."""
    return next(
        case for case in drawn_cases(subject_named(optimizer), dtype, seed=0, count=40) if 3 <= len(case.grads) <= 5
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("optimizer", RULES)
def test_every_equivalent_conforms(optimizer: str, dtype: str) -> None:
    verdicts = equivalents(optimizer, dtype, EFFORT)
    assert len(verdicts) >= 12
    assert {name: verdict.reason for name, verdict in verdicts.items() if verdict.verdict != "conforms"} == {}


def zeroed(case: Case) -> Case:
    """The case with 0 for every hyperparameter that has it for a corner, and every flag on."""
    declared = subject_named(case.optimizer).hyperparameters()
    zeros = {x.name: 0.0 for x in declared if x.kind is float and 0.0 in x.corners}
    return case.replace(hyper={**case.hyper, **zeros, **{x.name: True for x in declared if x.kind is bool}})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("optimizer", RULES)
def test_every_equivalent_keeps_every_law(optimizer: str, dtype: str) -> None:
    plain = short_case(optimizer, dtype)
    found = {}
    for style in STYLES.values():
        case = zeroed(plain) if style.name == "zeros_skipped" else plain
        target = StyledTarget(style)
        if optimizer in rules_of(style) and target.unsupported(optimizer, case.hyper, dtype) is None:
            for law in laws_of(subject_named(optimizer)):
                found[style.name, law.name] = law.broken(target, case, Guard())
    assert {key: text for key, text in found.items() if text is not None} == {}


def test_every_rule_has_twelve_equivalents_and_every_style_a_rule() -> None:
    for optimizer in RULES:
        assert sum(optimizer in rules_of(style) for style in STYLES.values()) >= 12
    for style in STYLES.values():
        assert rules_of(style)
        assert set(rules_of(style)) <= set(RULES)


@pytest.mark.parametrize(
    ("style", "optimizer"),
    [(style, rule) for style in STYLES.values() if not style.keeps_bits for rule in rules_of(style)],
    ids=lambda value: value.name if isinstance(value, Style) else value,
)
def test_a_style_is_no_copy_of_the_reference(style: Style, optimizer: str) -> None:
    """A style that changed no bit of a rule would prove nothing of it."""
    target = StyledTarget(style)
    for case in drawn_cases(subject_named(optimizer), "float32", seed=0, count=60):
        if target.unsupported(optimizer, case.hyper, case.dtype) is None and len(case.grads) <= 20:
            ours, theirs = (trajectory(one, case, Guard()) for one in (target, NumpyTarget()))
            if not np.array_equal(ours, theirs, equal_nan=True):
                return
    pytest.fail(f"{style.name} never differs from the reference")


def factor_first(documented: Any, grads: Sequence[Any]) -> list[Any]:
    sizes = [np.sqrt(np.dot(grad.ravel(), grad.ravel())) for grad in grads]
    return [
        grad * np.minimum(grad.dtype.type(1), grad.dtype.type(documented.clip_norm) / size) if size else grad
        for grad, size in zip(grads, sizes, strict=True)
    ]


def joint_in_blocks(documented: Any, grads: Sequence[Any]) -> list[Any]:
    dtype = grads[0].dtype
    blocks = [np.sum(np.square(part)) for grad in grads for part in np.array_split(grad.ravel(), 3)]
    size = np.sqrt(np.sum(np.array(blocks[::-1], dtype)))
    factor = dtype.type(documented.clip_norm) / max(size, dtype.type(documented.clip_norm))
    return [grad * factor for grad in grads]


def in_float64(documented: Any, grads: Sequence[Any]) -> list[Any]:
    wide = [grad.astype(np.float64) for grad in grads]
    given, _ = documented.feed(wide, [np.zeros_like(grad) for grad in wide], None)
    return [np.asarray(array).astype(grad.dtype) for array, grad in zip(given, grads, strict=True)]


def library_clip(documented: Any, grads: Sequence[Any]) -> list[Any]:
    return [np.clip(grad, documented.min, documented.max) for grad in grads]


def clip_by(function: Callable[..., list[Any]]) -> type[GradientFeed]:
    """Runs of a clip that is another function."""

    class Clip(GradientFeed):
        def transform(self, grads: list[Any]) -> list[Any]:
            with np.errstate(all="ignore"):
                return [np.asarray(array) for array in function(self.wrapper, grads)]

    Clip.__name__ = function.__name__
    return Clip


class WideAverage(AverageFeed):
    """Everything in float64, rounded when it is applied."""

    def _held(self, array: Any) -> Any:
        return super()._held(array.astype(np.float64))


class WideCompression(GradientFeed):
    """Accumulated in float64, so that other entries may be the largest."""

    def transform(self, grads: list[Any]) -> list[Any]:
        given = super().transform([grad.astype(np.float64) for grad in grads])
        return [array.astype(grad.dtype) for array, grad in zip(given, grads, strict=True)]


class Regrouped(DGCCompress):
    """``v + m*u`` first, then the gradient."""

    def accumulated(self, grad: Any, u: Any, v: Any) -> tuple[Any, Any]:
        after, sent = super().accumulated(grad, u, v)
        return after, sent if self.use_nesterov else (v + self.momentum * u) + grad


def regrouped(documented: Any, parameters: list[Any]) -> Any:
    return run_of(Regrouped.of(documented.hyper()), parameters)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("wrapper", "start"),
    [
        ("clip_by_norm", clip_by(factor_first)),
        ("clip_by_norm", clip_by(in_float64)),
        ("clip_by_global_norm", clip_by(joint_in_blocks)),
        ("clip_by_global_norm", clip_by(in_float64)),
        ("clip_by_value", clip_by(library_clip)),
        ("dgc_compress", WideCompression),
        ("dgc_compress", regrouped),
        ("exponential_moving_average", WideAverage),
        ("model_average", WideAverage),
    ],
    ids=label,
)
def test_an_honest_wrapper_conforms(wrapper: str, start: Any, dtype: str) -> None:
    found = verdict_of(Instead(start, wrapper), wrapper, dtype, Effort("honest", 60, 3))
    assert (found.verdict, found.reason, found.computes.arithmetic) == ("conforms", "", [])
