"""Large cases: what they contain, which elements are judged, and what is said of a target that fails in them alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.cases.large import (
    FEW_SIZES,
    MORE_SIZES,
    SCALES,
    Scale,
    from_json,
    large_plans,
    largeness,
    smallest,
    to_json,
)
from optimetry.conformance.cases.sparse import SPARSE
from optimetry.conformance.cases.strategies import PARAMETERS, PATTERNS
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.oracle.sampled import AFFORDABLE, edges, part_of, sampled
from optimetry.conformance.selftest.equivalents import STYLES, StyledTarget
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.hooks import skipping_tensors
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.known_targets import FOUR_CASES, judged
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun, run_of
from optimetry.conformance.targets.session import Guard, trajectory
from tests.conformance.judged import begun_by, dialect_named, verdict_of, without_lines
from tests.conformance.large_cases import BIG, LONG, MANY, case_of, contradicted

SHOWN = (
    "seam_skipped",
    "tensor_beyond_64_dropped",
    "count_in_uint8",
    "nesterov_tail_skipped",
    "large_state_saved_in_half_precision",
)
"""Faults whose counterexamples are run."""


def test_every_effort_has_large_cases_and_every_scale_of_standard_shows_a_fault() -> None:
    quick, standard, thorough = (set(EFFORTS[name].scales) for name in ("quick", "standard", "thorough"))
    assert set() < quick < standard < thorough
    assert {scale for fault in FAULTS.values() for scale in fault.scales} == standard


def test_plans_are_the_same_for_the_same_seed_and_survive_json() -> None:
    for subject in map(subject_named, ("rmsprop", "dgc_compress", "model_average")):
        plans, again, others = (list(large_plans(subject, "float32", [MANY, LONG], seed)) for seed in (0, 0, 1))
        assert plans == again != others
        for plan in plans:
            assert from_json(to_json(plan)) == plan
            a, b = (subject.adapted(each.case()).to_json() for each in (plan, from_json(to_json(plan))))
            assert a == b


@pytest.mark.parametrize("dtype", FORMATS)
def test_sums_that_rounding_may_exceed_are_left_out_and_long_runs_of_what_takes_few_steps(dtype: str) -> None:
    scales = [scale for scale in SCALES if not scale.long]
    of_all, of_each, of_joint = (
        list(large_plans(subject_named(name), dtype, [*scales, LONG], 0))
        for name in ("sgd", "clip_by_norm", "clip_by_global_norm")
    )
    dense = [scale for scale in scales if not scale.sparse]
    assert len(of_all) == len(dense) + 4  # tensors of many sizes come twice, and a big one has a gap
    assert max(plan.steps for plan in of_each) == 3
    narrow = FORMATS[dtype].roundoff > 1e-4
    one_each = [plan for plan in of_each if plan.tensors[0].shape not in {*FEW_SIZES, *MORE_SIZES}]
    tensors = [tensor for plan in one_each for tensor in plan.tensors]
    largest = max(int(np.prod(tensor.shape)) for tensor in tensors if tensor.start != SPARSE)
    assert largest == (17 if narrow else 66_495)
    assert [tensor.shape for tensor in tensors if tensor.start == SPARSE] == [(4099,), (65_539,), (1_000_003,)]
    assert [len(plan.tensors) for plan in one_each if len(plan.tensors) > 1] == [70, 1000]
    of_sizes = [len(plan.tensors) for plan in of_each if plan not in one_each]
    assert of_sizes == ([8] if narrow else [8, 6, 6, 6, 6])
    joint = [len(plan.tensors) for plan in of_joint if len(plan.tensors) > 1]
    assert joint == ([8] if narrow else [70, 8, 6, 6, 6, 6, 1000])


@pytest.mark.parametrize("size", [1, 2, 131, 4096, 65_537, 1_000_003])
def test_elements_on_both_sides_of_every_seam_are_chosen(size: int) -> None:
    chosen = set(edges(size).tolist())
    seams = {0, size, size // 2, size // 3, size // 4, 3 * size // 4, size - size % 1024, size - size % 4096}
    seams |= {2**power for power in range(24)}
    assert {at + side for at in seams for side in (-1, 0, 1) if 0 <= at + side < size} <= chosen
    assert chosen <= set(range(size))
    assert len(chosen) < 400


@pytest.mark.parametrize("optimizer", ["adam", "ftrl", "exponential_moving_average"])
def test_the_oracle_gives_a_part_what_it_gives_the_whole(optimizer: str) -> None:
    case = case_of(optimizer, MANY)
    columns = np.array([0, 2, 20, 21, 22, case.size - 1])
    part, whole = expected(part_of(case, columns).case), expected(case)
    for a, b in ((part.value, whole.value), (part.bound, whole.bound)):
        assert a.tobytes() == np.ascontiguousarray(b[:, columns]).tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("optimizer", ["lamb", "lars_momentum", "clip_by_global_norm"])
def test_zeros_change_no_norm(optimizer: str, dtype: str) -> None:
    """The oracle gives nonzero elements the same values and bounds with the zeros beside them and without."""
    case = case_of(optimizer, Scale(((4099,),), steps=2, sparse=True), dtype)
    assert np.count_nonzero(case.grads[1][0]) == 8
    part = sampled(case, np.zeros((2, 4099)), documented_class(optimizer).of(case.hyper))
    assert part.columns.tolist() == [0, 1, 1023, 1024, 2047, 2048, 4095, 4096, 4098]  # 1 for all zeros
    few, whole = expected(part.case), expected(case)
    assert few.value.astype(float) == pytest.approx(whole.value[:, part.columns].astype(float), rel=1e-15)
    assert few.bound.astype(float) == pytest.approx(whole.bound[:, part.columns].astype(float), rel=1e-6)
    assert few.bound.max() < (0.01 if dtype == "float16" else 1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_norm_that_is_cut_off_late_shows_in_sparse_tensors_alone(sparse: bool) -> None:
    scales = [scale for scale in SCALES if not scale.long and scale.sparse == sparse]
    reason = contradicted(FAULTS["norm_of_one_launch"].target(), "clip_by_norm", *scales)
    assert (reason is not None) == sparse


def test_a_zero_that_a_target_moves_is_compared() -> None:
    case = case_of("lamb", Scale(((4099,),), steps=2, sparse=True))
    after = np.zeros((2, 4099))
    after[1, 3000] = np.nan
    assert 3000 in sampled(case, after, documented_class("lamb").of(case.hyper)).columns


def test_what_large_cases_add_replaces_nothing_that_is_drawn() -> None:
    assert SPARSE not in {*PATTERNS, *PARAMETERS}


def test_a_compression_counts_zeros() -> None:
    """It sends a share of all entries, zeros included, so it gets no sparse large case."""
    scales = [Scale(((4099,),), sparse=True), Scale(((4099,),))]
    assert len(list(large_plans(subject_named("dgc_compress"), "float32", scales, 0))) == 1


def test_the_element_that_is_furthest_off_is_chosen_wherever_it_is() -> None:
    case = case_of("sgd", BIG)
    after = trajectory(NumpyTarget(), case, Guard())
    assert 54_321 not in edges(case.size)
    after[1, 54_321] += 1e-6
    part = sampled(case, after, subject_named("sgd").of(case.hyper))
    assert 54_321 in part.columns
    assert part.case.size == len(part.columns) < 600
    assert sampled(case_of("lamb", BIG), after, subject_named("sgd").of({})).case.size == 65_537 > AFFORDABLE


@pytest.mark.parametrize(
    ("dtype", "optimizer"), [("float32", "rmsprop"), ("float64", "momentum"), ("bfloat16", "adam")]
)
def test_the_reference_conforms_in_every_large_case(optimizer: str, dtype: str) -> None:
    assert contradicted(NumpyTarget(), optimizer, *SCALES[:-1], dtype=dtype) is None


@pytest.mark.parametrize(
    ("style", "optimizer", "scale"),
    [
        ("threads", "adam", BIG),
        ("blocks_of_16", "rmsprop", Scale(((4099,),))),
        ("one_buffer", "adagrad", MANY),
        ("strided", "lamb", Scale(((257, 129),))),
        ("sum_in_blocks", "lars_momentum", Scale(((4099,),))),
        ("sum_in_order", "lamb", Scale(((4099,),))),
        ("repeated_products", "adam", LONG),
        ("repeated_squares", "adamax", LONG),
    ],
)
def test_honest_equivalents_conform_in_large_cases(style: str, optimizer: str, scale: Scale) -> None:
    assert contradicted(StyledTarget(STYLES[style]), optimizer, scale) is None


def test_a_plan_is_shrunk_to_the_size_from_which_on_it_fails() -> None:
    (cube, many) = large_plans(subject_named("sgd"), "float32", [Scale(((33, 65, 31),)), MANY], 0)
    calls = []

    def at_least(elements: int) -> Any:
        return lambda plan: calls.append(plan) or int(np.prod(plan.tensors[0].shape)) >= elements

    assert smallest(cube, at_least(5000)).tensors[0].shape == (5000,)
    assert smallest(cube, lambda plan: len(plan.tensors[0].shape) == 3).tensors[0].shape == (1, 65, 31)
    assert len(calls) < 20
    assert smallest(many, lambda plan: len(plan.tensors) >= 33).tensors == many.tensors[:33]
    assert largeness(smallest(many, lambda plan: True)) is None


@pytest.mark.parametrize("name", SHOWN)
def test_a_counterexample_is_small_and_its_script_shows_it(name: str) -> None:
    fault = FAULTS[name]
    verdict = judged(fault, "float32")
    shown = verdict.counterexample
    assert shown is not None
    assert verdict.share is not None
    assert verdict.share > 2
    assert sum(map(len, (shown["plan"], shown["case"], shown["script"]))) < 100_000
    case = Case.from_json(shown["case"])
    assert case.size <= 3
    run = subprocess.run([sys.executable, "-"], input=shown["script"], text=True, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    plan = from_json(shown["plan"])
    replayed = contradiction(fault.target(), [plan], Explanation(documented_class(fault.optimizer)), Guard())
    assert replayed is not None
    assert replayed.fields["counterexample"] == shown


def test_a_diagnosis_agrees_with_the_verdict() -> None:
    fault = FAULTS["elements_beyond_4096_skipped"]
    effort = Effort("few and large", 16, 1, fault.scales)
    (diagnosis,) = diagnose([fault.target()], fault.optimizer, "float32", effort=effort, seed=0)
    assert diagnosis.verdict.verdict == "diverges"
    assert diagnosis.verdict.reason == judged(fault, "float32").reason
    assert diagnosis.explanation is None


class _Untidy:
    """Computes a dialect, in which tensors of at least 4,000 elements lose their last."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def step(self, grads: Any, rate: float) -> Any:
        before = [np.array(param) for param in self.run.training.parameters]
        after = self.run.step(grads, rate)
        for old, new in zip(before, after, strict=True):
            if new.size >= 4000:
                new.flat[-1] = old.flat[-1]
        return after


def test_a_dialect_is_held_to_itself_in_large_cases() -> None:
    dialect = dialect_named("adam", "scaled_epsilon")
    effort = Effort("few and large", 4, 1, (Scale(((4099,),)),))
    tidy = Instead(lambda rule, parameters: run_of(dialect.of(rule.hyper()), parameters), "adam")
    assert verdict_of(tidy, "adam", effort=effort).dialect == "scaled_epsilon"
    untidy = Instead(lambda rule, parameters: _Untidy(run_of(dialect.of(rule.hyper()), parameters)), "adam")
    verdict = verdict_of(untidy, "adam", effort=effort)
    assert (verdict.verdict, verdict.dialect) == ("diverges", None)
    assert verdict.reason.startswith("scaled_epsilon in small cases, but not with a tensor of 4000 elements")


def test_a_fault_in_a_large_case_is_an_error_that_names_the_case() -> None:
    def refuse(rule: Any, parameters: Any) -> Any:
        if len(parameters) > 64:
            raise MemoryError("too many tensors")
        return run_of(rule, parameters)

    verdict = verdict_of(Instead(refuse, "sgd"), "sgd", effort=Effort("few and many", FOUR_CASES.cases, 1, (MANY,)))
    assert verdict.verdict == "error"
    assert without_lines(verdict.reason) == "raised MemoryError: too many tensors, with 70 tensors"
    assert verdict.counterexample is not None
    assert largeness(from_json(verdict.counterexample["plan"])) == "70 tensors"


class _Tired(RuleRun):
    """Stops after fifty steps."""

    def step(self, grads: Any, learning_rate: float) -> Any:
        return super().step([None] * len(grads) if max(self.training.updates) == 50 else grads, learning_rate)


def test_what_a_long_run_shows_in_few_steps_is_shrunk_like_any_case() -> None:
    effort = Effort("few and long", FOUR_CASES.cases, 1, (LONG,))
    verdict = verdict_of(Instead(_Tired, "sgd"), "sgd", effort=effort)
    assert verdict.verdict == "diverges"
    assert verdict.reason.startswith("no known rule explains it: up to ")
    assert verdict.counterexample is not None
    assert len(Case.from_json(verdict.counterexample["case"]).grads) == 51


def test_what_is_not_offered_is_not_tried() -> None:
    target = NumpyTarget()
    target.unsupported = lambda optimizer, hyper, dtype: "no"  # type: ignore[attr-defined]
    assert contradicted(target, "sgd", BIG) is None


def test_what_a_target_pins_is_pinned_in_large_cases_too() -> None:
    momentums = []

    def begin(rule: Any, parameters: Any) -> Any:
        momentums.append(rule.hyper()["momentum"])
        return run_of(rule, parameters)

    target = Instead(begin, "momentum")
    target.pinned = {"momentum": {"momentum": 0.25}}  # type: ignore[attr-defined]
    assert contradicted(target, "momentum", BIG) is None
    assert set(momentums) == {0.25}


def test_every_hundred_steps_are_watched_as_a_run() -> None:
    beats: list[None] = []
    case = case_of("sgd", LONG)
    guard = Guard(heartbeat=lambda: beats.append(None))
    after = trajectory(NumpyTarget(), case, guard)
    assert len(beats) == 3
    assert np.isfinite(after).all()
    trajectory(NumpyTarget(), case.replace(grads=(), learning_rates=()), guard)
    assert len(beats) == 4


def test_tensors_that_are_left_out_are_listed_by_number() -> None:
    def run(*left_out: int) -> str | None:
        start = skipping_tensors(lambda i, count: count >= 7 and i in left_out)
        return contradicted(begun_by(start, "sgd"), "sgd", MANY)

    assert "leaves out tensors 1, 3, 6 with 7 tensors" in str(run(1, 3, 6))
    assert "leaves out tensors 2 to 6 with 7 tensors" in str(run(2, 3, 4, 5, 6))
