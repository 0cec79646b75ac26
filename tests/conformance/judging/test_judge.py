"""The judge: verdicts and their reasons."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case, replayed
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.broken import BrokenLaws
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, LARGEST_ULP, SLACK
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle import batched
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.selftest.known_targets import HALF_QUICK, QUARTER_QUICK
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import UnknownOptimizerError
from optimetry.reports.results import Computes
from tests.conformance.judged import IN_TURN, QUICK, dialect_named, verdict_of, without_lines

NONE = Effort("none drawn", 0, 0)


def one_element_wrong(documented: Any, parameters: list[Array]) -> Any:
    """The documented formula, but the fifth element of a step is off by a millionth."""
    run: Any = run_of(documented, parameters)
    plain = run.step

    def step(grads: list[Array | None], learning_rate: float) -> list[Array]:
        after: list[Array] = plain(grads, learning_rate)
        for array in after:
            if array.size > 4:
                array.flat[4] *= array.dtype.type(1.000001)
        return after

    run.step = step
    return run


LITTLE_SAID = {
    "torch.rmsprop": 0.5,  # whose variance may be negative by its rounding
    "papers.amsgrad": 0.5,  # which divides 0 by 0 until a gradient comes
    "papers.radam": 0.25,  # which does, too; where a step may be rectified or not, its bound is finite
    "papers.yogi": 0.5,  # whose sign may be either, within its bound
    "torch.radam": 0.2,  # whose decay may cancel the gradient, which leaves nothing but epsilon to divide by
    "papers.lamb": 0.6,  # whose ratio of norms is in doubt after some of a hundred steps in bfloat16
    "torch.muon": 0.6,  # whose iteration may be in bfloat16
}
"""Rules of whose elements the bound says less, with the share of elements of which it may say nothing."""


@pytest.mark.parametrize(
    ("optimizer", "dtype"),
    dict.fromkeys([*IN_TURN, *((name, "float32") for name in SUBJECTS), *((name, "bfloat16") for name in LITTLE_SAID)]),
)
def test_the_reference_conforms_in_working_precision(optimizer: str, dtype: str) -> None:
    wide = dtype in ("float32", "float64")
    little = optimizer in LITTLE_SAID  # whose share is told by many cases alone
    usual = HALF_QUICK if little or dtype == "float32" else QUARTER_QUICK
    effort = Effort("no laws: see test_laws.py", (QUICK if little and not wide else usual).cases, 0)
    verdict = verdict_of(NumpyTarget(), optimizer, dtype, effort)
    assert (verdict.verdict, verdict.reason) == ("conforms", "")
    assert verdict.computes == Computes("documented")
    assert verdict.share is not None
    assert verdict.share <= 1, "the formula's own order of operations needs no slack"
    assert dtype != "float32" or verdict.share > 0.1, "the bound is no blank cheque"
    assert verdict.cases == effort.cases
    assert verdict.vacuous < LITTLE_SAID.get(optimizer, 0.1 if wide else 0.5)


@pytest.mark.parametrize(
    ("optimizer", "name", "words"),
    [
        ("adam", "scaled_epsilon", "sqrt(1-b2^t)"),
        ("clip_by_norm", "epsilon_in_divisor", "|g| + 1e-6"),
        ("dgc_compress", "unmasked_velocity", "u keeps what is sent"),
    ],
)
def test_a_dialect_is_named_with_its_formula_and_a_counterexample(optimizer: str, name: str, words: str) -> None:
    dialect = dialect_named(optimizer, name)
    verdict = verdict_of(computing(dialect), optimizer)
    assert (verdict.verdict, verdict.dialect) == ("dialect", name)
    assert verdict.computes == Computes(name, dialect.difference, same_as=verdict.computes.same_as)
    assert words in verdict.reason
    assert verdict.share is not None
    assert verdict.share > SLACK
    assert verdict.counterexample is not None


def test_laws_are_tried_once_on_a_case_the_rejected_one_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(documented: Any, parameters: list[Array]) -> Any:
        run: Any = run_of(documented, parameters)
        plain = run.step
        run.step = lambda grads, rate: [np.cbrt(array) for array in plain(grads, rate)]
        return run

    tried: list[Case] = []
    try_on = BrokenLaws.try_on

    def noted(self: BrokenLaws, target: Any, case: Case, guard: Guard) -> None:
        tried.append(case)
        try_on(self, target, case, guard)

    monkeypatch.setattr(BrokenLaws, "try_on", noted)
    assert verdict_of(Instead(begin), "sgd", effort=Effort("few", 10, 3), search=None).verdict == "diverges"
    assert len(tried) == len(set(tried)) == 3


def test_what_no_engine_offers_is_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    class SgdAlone(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: object, dtype: str) -> str | None:
            return None if optimizer == "sgd" else "not written yet"

    evaluated: list[Any] = []
    monkeypatch.setattr(batched, "evaluate", evaluated.extend)
    assert verdict_of(SgdAlone(), "adagrad").verdict == "unsupported"
    assert evaluated == []
    assert verdict_of(SgdAlone(), "sgd").verdict == "conforms"
    assert evaluated


def test_what_nothing_explains_diverges() -> None:
    verdict = verdict_of(Instead(one_element_wrong), "sgd")
    assert (verdict.verdict, verdict.dialect, verdict.computes.rule) == ("diverges", None, None)
    assert list(map(str, verdict.computes.parts)) == [
        "no known rule where number of elements is not 1",
        "documented where number of elements is 1",
    ]


def test_nan_is_said_to_be_returned_with_its_place_and_the_documented_value() -> None:
    def begin(documented: Any, parameters: list[Array]) -> Any:
        """Of several elements the last is NaN from the second step on."""
        run: Any = run_of(documented, parameters)
        plain, taken = run.step, []

        def step(grads: list[Array | None], learning_rate: float) -> list[Array]:
            taken.append(None)
            after: list[Array] = plain(grads, learning_rate)
            for array in after:
                if array.size > 1 and len(taken) > 1:
                    array.flat[-1] = np.nan
            return after

        run.step = step
        return run

    verdict = verdict_of(Instead(begin), "sgd")
    assert (verdict.verdict, (verdict.counterexample or {})["given"]) == ("diverges", "nan")
    assert verdict.reason.startswith("returned NaN at step 2, element 1, where the documented formula gives -0.8; ")


@pytest.mark.parametrize(
    ("wrong", "words", "figures"),
    [
        (
            lambda x: np.full_like(x, np.inf),
            "returned an infinity at step 1, element 0, where the documented formula gives 0.9; ",
            (LARGEST_SHARE, int(LARGEST_ULP)),
        ),
        (
            lambda x: np.where(np.arange(x.size).reshape(x.shape) == 4, x * x.dtype.type(1.000001), x),
            "differs from the documented formula: up to 16.5 times what rounding can",
            (16.5, 12),
        ),
    ],
)
def test_how_far_off_an_unknown_rule_is_stands_in_the_reason(
    wrong: Callable[[Array], Array], words: str, figures: tuple[float, int]
) -> None:
    def begin(documented: Any, parameters: list[Array]) -> Any:
        """Wrong in tensors of more than four elements."""
        run: Any = run_of(documented, parameters)
        plain = run.step
        run.step = lambda grads, rate: [wrong(x) if x.size > 4 else x for x in plain(grads, rate)]
        return run

    verdict = verdict_of(Instead(begin), "sgd", effort=Effort("no laws", 20, 0))
    assert words in verdict.reason
    assert (round(verdict.share or 0, 1), verdict.ulp) == figures


def test_a_verdict_is_under_the_book_of_its_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(subject_named("sgd")), "book", "another")
    assert verdict_of(NumpyTarget(), "sgd", effort=Effort("no laws", 1, 0)).book == "another"


def test_the_guard_watches_over_every_run() -> None:
    beats, started = [], []
    target = Instead(lambda documented, parameters: started.append(parameters) or run_of(documented, parameters))
    verdict = verdict_of(target, "sgd", effort=Effort("no laws", 5, 0), guard=Guard(heartbeat=lambda: beats.append(0)))
    assert (verdict.verdict, verdict.cases) == ("conforms", 5)
    assert len(beats) == len(started) > 5 + len(replayed("sgd", "float32"))  # those that no seed draws, too


def test_the_same_seed_gives_the_same_verdict_and_counterexample() -> None:
    target = computing(dialect_named("rmsprop", "nesterov"))
    first, second = (judge([target], "rmsprop", "float64", effort=QUICK, seed=7) for _ in range(2))
    assert first == second
    assert first[0].verdict == "dialect"


def test_an_engine_that_offers_nothing_is_unsupported() -> None:
    class Refuses(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str:
            return f"no {optimizer} here"

    for optimizer in ("sgd", "l1_decay"):
        verdict = verdict_of(Refuses(), optimizer)
        assert (verdict.verdict, verdict.reason, verdict.cases) == ("unsupported", f"no {optimizer} here", 0)


def test_a_target_without_start_wrapper_offers_none() -> None:
    class Plain:
        """What the protocol asks for, and no more."""

        name, version = "plain", "1"
        start = NumpyTarget.start

    verdict = verdict_of(Plain(), "clip_by_norm")
    assert (verdict.verdict, verdict.cases) == ("unsupported", 0)
    assert "has no start_wrapper" in verdict.reason
    assert verdict_of(Plain(), "sgd").verdict == "conforms"


def test_a_target_whose_unsupported_raises_is_an_error() -> None:
    class Unsure(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str:
            raise KeyError(optimizer)

    verdict = verdict_of(Unsure(), "sgd")
    assert (verdict.verdict, without_lines(verdict.reason)) == ("error", "unsupported() raised KeyError: 'sgd'")


def test_every_engine_is_judged_apart() -> None:
    class Two(NumpyTarget):
        def engines(self) -> list[Any]:
            return [NumpyTarget(), computing(dialect_named("adagrad", "epsilon_inside"), "other")]

    first, second = judge(engines_of(Two()), "adagrad", "float32", effort=QUICK, seed=0)
    assert (first.verdict, first.engine) == ("conforms", "default")
    assert (second.verdict, second.dialect, second.engine) == ("dialect", "epsilon_inside", "other")


def test_a_target_of_which_little_is_judged_is_not_accepted() -> None:
    """Of Muon's five iterations in bfloat16 the bound says nothing: HeavyBall's conformed, with other coefficients."""

    class Five(NumpyTarget):
        pinned: ClassVar = {"torch.muon": {"a": 3.4445, "b": -4.775, "c": 2.0315, "eps": 1e-7, "ns_steps": 5}}

    verdict = verdict_of(Five(), "torch.muon", effort=Effort("enough", 40, 0))
    assert verdict.verdict == "error"
    text = r"too little could be judged: of \d\d% of the elements the bound says nothing; "
    assert re.fullmatch(f"{text}it may say more of other values of what the target pins: .*, ns_steps", verdict.reason)


def test_what_is_nothing_but_vacuous_is_an_error_that_says_so() -> None:
    """An element whose bound is not finite is counted and reported, never silently passed."""
    still = np.zeros((2,), np.float16)
    hyper = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}  # which float16 has not, so the step is 0/0
    case = Case("adam", "float16", hyper, (0.1,), (still,), ((still,),))
    (verdict,) = judge([NumpyTarget()], "adam", "float16", effort=NONE, seed=0, before=[case])
    reason = "too little could be judged: of 100% of the elements the bound says nothing"
    assert (verdict.verdict, verdict.reason) == ("error", reason)
    assert (verdict.vacuous, verdict.share, verdict.ulp, verdict.cases) == (1.0, None, None, 1)


def test_cases_given_before_are_tried_first() -> None:
    target = Instead(one_element_wrong)
    shown = verdict_of(target, "sgd").counterexample
    assert shown is not None
    case = Case.from_json(shown["case"])
    (alone,) = judge([target], "sgd", "float32", effort=NONE, seed=0, before=[case])
    assert (alone.verdict, alone.cases) == ("diverges", 1)


@pytest.mark.parametrize("look_up", [subject_named, lambda name: verdict_of(NumpyTarget(), name)])
def test_an_unknown_subject_is_named(look_up: Any) -> None:
    message = r"unknown optimizer 'clip', must be one of: adadelta, .*; did you mean clip_by_"
    with pytest.raises(UnknownOptimizerError, match=message):
        look_up("clip")


def test_an_array_that_is_kept_for_the_next_step_is_an_error_whatever_the_laws_saw() -> None:
    """The gradients of the step before are used from the second step on, which shows in longer cases alone."""

    class Late(NumpyTarget):
        def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
            run = super().start(optimizer, hyper, parameters)
            plain, kept = run.step, []

            def step(grads: list[Array | None], learning_rate: float) -> list[Array]:
                kept.append(grads)
                return plain(kept[-2:][0], learning_rate)

            run.step = step  # type: ignore[method-assign]
            return run

    (verdict,) = judge([Late()], "momentum", "float32", effort=Effort("no laws", 20, 0), seed=0)
    assert verdict.verdict == "error"
    assert "instead of its contents" in verdict.reason
