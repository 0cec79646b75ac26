"""The suite mistakes no honest equivalent for another rule."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.laws import laws_of
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.equivalents import STYLES, Style, StyledTarget, rules_of
from optimetry.conformance.selftest.equivalents.wrappers import HONEST
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.known_targets import DTYPES, equivalents
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.wrapper import WRAPPERS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.books import BOOKS
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict
from tests.conformance.judged import label, verdict_of

EFFORT = Effort("equivalents", cases=4, law_cases=0)
FEW = Effort("two cases", cases=2, law_cases=0)

ELSEWHERE = [
    name for book, rules in BOOKS.items() if book != "fluid" for name, rule in rules.items() if not rule.shaped
]
"""The rules of other books, which are tried on fewer cases and in one dtype: the pages of the suite have all.

Those that tell rows and columns apart have evaluations of their own.
"""

HALF: dict[str, list[Style]] = {name: [] for name in ELSEWHERE}
"""Every style for every other of these rules that it computes in its own way."""

for number, style in enumerate(STYLES.values()):
    own = [name for name in ELSEWHERE if name in rules_of(style)]
    for name in own[number % 2 if len(own) > 1 else 0 :: 2]:
        HALF[name].append(style)


def short_case(optimizer: str, dtype: str) -> Case:
    """The first case with some steps and few: laws run a target dozens of times."""
    return next(
        case for case in drawn_cases(subject_named(optimizer), dtype, seed=0, count=40) if 3 <= len(case.grads) <= 5
    )


def rejected(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    """The styles that do not conform, with the reason; of two cases none may be one that `one_sided_lerp` is for."""
    return [
        (verdict.engine, verdict.reason)
        for verdict in verdicts
        if verdict.verdict != "conforms" and (verdict.engine, verdict.verdict) != ("one_sided_lerp", "unsupported")
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("optimizer", RULES)
def test_every_equivalent_conforms(optimizer: str, dtype: str) -> None:
    verdicts = equivalents(optimizer, dtype, EFFORT if dtype == "float32" else FEW)
    assert len(verdicts) >= 12
    assert rejected(verdicts.values()) == []


@pytest.mark.parametrize("optimizer", ELSEWHERE)
def test_every_equivalent_of_a_rule_of_another_book_conforms(optimizer: str) -> None:
    verdicts = judge([StyledTarget(style) for style in HALF[optimizer]], optimizer, "float32", effort=FEW, seed=0)
    assert len(verdicts) >= 5
    assert rejected(verdicts) == []


@pytest.mark.parametrize(("optimizer", "names"), [("torch.nadam", ["mu_product"]), ("papers.novograd", ["v"])])
def test_a_style_keeps_a_number_of_the_whole_parameter_among_the_slots(optimizer: str, names: list[str]) -> None:
    case = short_case(optimizer, "float32")
    parameters = [np.array(param) for param in case.parameters]
    for style in STYLES.values():
        if optimizer in rules_of(style):
            run = StyledTarget(style).start(optimizer, case.hyper, parameters)
            run.step([np.ones_like(param) for param in parameters], 0.1)
            assert [x.shape for name in names for x in run.state()[name]] == [()] * len(parameters)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("style", ["one_quotient", "scalars_first", "scalars_last", "reciprocal"])
def test_a_subnormal_gradient_may_be_multiplied_before_it_is_divided(style: str, dtype: str) -> None:
    """Every documented rule divides the subnormal product, whose bound holds for every other order."""
    form, target = FORMATS[dtype], StyledTarget(STYLES[style])
    grads = tuple((np.array([share * form.smallest_normal], form.dtype),) for share in (0.7, 0.3, 0.011))
    beyond = {}
    for name in rules_of(STYLES[style]):
        declared = subject_named(name).hyperparameters()
        hyper = {x.name: x.corners[0] if x.default is None else x.default for x in declared}
        case = Case(name, dtype, hyper, (0.001,) * len(grads), (np.zeros(1, form.dtype),), grads)
        if target.unsupported(name, hyper, dtype) is None:
            agreement = compare(trajectory(target, case, Guard()), expected(case), form)
            beyond.update({} if agreement.conforms else {name: agreement.share})
    assert beyond == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_sgd_without_momentum_may_multiply_by_what_a_decay_leaves(dtype: str) -> None:
    """``w*(1 - lr*wd) - lr*g`` rounds three times what ``w - lr*wd*w - lr*g``, the bound's order, rounds twice."""
    for case in drawn_cases(subject_named("torch.sgd"), dtype, seed=0, count=40):
        hyper = {"momentum": 0.0, "dampening": 0.0, "nesterov": False, "maximize": False}
        plain = case.replace(hyper={**hyper, "weight_decay": case.hyper["weight_decay"]})
        params, after = list(case.parameters), []
        with np.errstate(all="ignore"):
            for grads, lr in case.steps:
                kept = 1 - lr * plain.hyper["weight_decay"]
                params = [w if g is None else w * kept - lr * g for w, g in zip(params, grads, strict=True)]
                after.append(np.concatenate([np.ravel(w) for w in params]))
        assert compare(np.array(after), expected(plain), case.form).share <= 1.5


def zeroed(case: Case) -> Case:
    """The case with 0 for every hyperparameter that has it for a corner, and every flag on."""
    declared = subject_named(case.optimizer).hyperparameters()
    zeros = {x.name: 0.0 for x in declared if x.kind is float and 0.0 in x.corners}
    return case.replace(hyper={**case.hyper, **zeros, **{x.name: True for x in declared if x.kind is bool}})


@pytest.mark.parametrize("optimizer", RULES)
def test_every_equivalent_keeps_every_law(optimizer: str) -> None:
    """In one dtype, the next style in the other: laws compare runs of one target."""
    plain, texts = [short_case(optimizer, dtype) for dtype in DTYPES], {}
    for style, case, dtype in zip(STYLES.values(), cycle(plain), cycle(DTYPES)):
        target, tried = StyledTarget(style), zeroed(case) if style.name == "zeros_skipped" else case
        if optimizer in rules_of(style) and target.unsupported(optimizer, tried.hyper, dtype) is None:
            trial = Trial(target, tried, Guard(), known={})
            for law in laws_of(subject_named(optimizer)):
                texts[style.name, law.name] = law.broken(trial)
    assert {key: text for key, text in texts.items() if text is not None} == {}


def test_every_rule_has_twelve_equivalents_and_every_style_a_rule() -> None:
    for optimizer in (*RULES, *ELSEWHERE):
        assert sum(optimizer in rules_of(style) for style in STYLES.values()) >= 12
    for style in STYLES.values():
        assert set(rules_of(style)) & set(RULES)
        assert set(rules_of(style)) <= {*RULES, *ELSEWHERE}
        assert any(style in styles for styles in HALF.values())


@pytest.mark.parametrize(
    ("style", "optimizer"),
    [(style, rule) for style in STYLES.values() if not style.keeps_bits for rule in rules_of(style) if rule in RULES],
    ids=lambda value: value.name if isinstance(value, Style) else value,
)
def test_a_style_is_no_copy_of_the_reference(style: Style, optimizer: str) -> None:
    """A style that changed no bit of a rule would prove nothing of it."""
    target = StyledTarget(style)
    for case in drawn_cases(subject_named(optimizer), "float32", seed=0, count=60):
        if target.unsupported(optimizer, case.hyper, case.dtype) is None and len(case.grads) <= 20:
            ours, theirs = (trajectory(each, case, Guard()) for each in (target, NumpyTarget()))
            if not np.array_equal(ours, theirs, equal_nan=True):
                return
    pytest.fail(f"{style.name} never differs from the reference")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("wrapper", "start"), HONEST, ids=label)
def test_an_honest_wrapper_conforms(wrapper: str, start: Any, dtype: str) -> None:
    verdict = verdict_of(Instead(start, wrapper), wrapper, dtype, Effort("honest", 60, 3))
    assert (verdict.verdict, verdict.reason, verdict.computes.arithmetic) == ("conforms", "", [])


def test_every_wrapper_has_an_honest_equivalent() -> None:
    assert {wrapper for wrapper, _ in HONEST} == set(WRAPPERS)
