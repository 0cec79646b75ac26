"""What a run does beside its rule: each hypothesis does what its words say, and none is invented."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.partial_explanations import in_parts
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs, surviving
from optimetry.conformance.naming.runs.gradients import of_all_magnitudes
from optimetry.conformance.naming.runs.precision import stored, through
from optimetry.conformance.naming.runs.skipped import SIZES, of_all_sizes, places_left_out
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.equivalents import STYLES, StyledTarget, rules_of
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun, run_of
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import State
from optimetry.reports.parts import RUN
from optimetry.reports.results import Computes
from tests.conformance.judged import class_named, verdict_of, with_hooks

X, Y, Z = (np.array([x], np.float32) for x in (1.0, 2.0, 3.0))
CASE = Case(
    "momentum",
    "float32",
    {"momentum": 0.5, "use_nesterov": False},
    (0.5, 0.25, 0.1),
    (X, Y),
    ((None, Y), (Z, None), (X, X)),
)


def listed(optimizer: str, dtype: str = "float32") -> Iterator[Mistake]:
    return (mistake for tier in mistakes_of_runs(SUBJECTS[optimizer], dtype) for mistake in tier)


def test_what_a_mistake_gives_on_a_case_is_evaluated_once() -> None:
    adapter = Mistaken(Explanation(documented_class("momentum")), next(listed("momentum")))
    again = adapter.computed_in(adapter.explanation.arithmetic)
    assert again is not adapter
    assert adapter.expected(CASE) is again.expected(CASE)
    assert adapter.expected(CASE.replace()).value is adapter.expected(CASE).value, "what reaches the rule is the same"
    assert adapter.expected(CASE.upto(1)).value is not adapter.expected(CASE).value


def named(words: str, optimizer: str = "momentum") -> list[Mistaken]:
    documented = Explanation(documented_class(optimizer))
    adapters = [Mistaken(documented, each) for each in listed(optimizer)]
    return [each for each in adapters if str(each.part) == f"documented, but {words}"]


def numbers(grads: Any) -> list[Any]:
    return [[None if grad is None else float(grad[0]) for grad in row] for row in grads]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd", "lamb", "clip_by_norm", "exponential_moving_average"])
def test_every_finding_has_words_and_a_place_in_the_schema(optimizer: str, dtype: str) -> None:
    schema = json.loads(resources.files("optimetry.reports").joinpath("schema.json").read_text(encoding="utf-8"))
    kinds = schema["$defs"]["run"]["properties"]["finding"]["enum"]
    assert set(kinds) == set(RUN)
    for mistake in (*listed(optimizer, dtype), *surviving.mistakes()):
        assert mistake.run["finding"] in RUN
        text = str(Mistaken(Explanation(documented_class(optimizer)), mistake).part)
        assert text.startswith("documented, but ")
        assert "{" not in text


def test_late_gradients_come_by_the_step_or_by_the_parameter() -> None:
    fed = [numbers(each.mistake.fed(CASE).grads) for each in named("uses the gradients of the step before")]
    assert [[None, None], [None, 2], [3, None]] in fed
    assert [[0, 0], [None, 2], [3, None]] in fed
    assert [[None, None], [None, None], [3, 2]] in fed
    assert [[None, 0], [0, None], [3, 2]] in fed


def test_results_come_late_from_the_start() -> None:
    (late,) = named("returns the parameters of the step before")
    plain, after = late.explanation.expected(CASE), late.expected(CASE)
    np.testing.assert_array_equal(after.value[0], [1.0, 2.0])
    np.testing.assert_array_equal(after.bound[0], [0.0, 0.0])
    np.testing.assert_array_equal(after.value[1:], plain.value[:-1])


def test_all_state_and_each_slot_may_begin_anew_with_the_count_or_without() -> None:
    reset = [each.run["what"] for each in listed("adam") if each.run["finding"] == "reset"]
    assert len(reset) == 3 * 6  # in every step, where the rate is new, where a gradient is missing
    assert all(
        reset.count([*slots, *count]) == 3
        for slots in (["moment1", "moment2"], ["moment1"], ["moment2"])
        for count in ([], ["the step count"])
    )


def test_a_number_of_each_parameter_may_be_one_of_all() -> None:
    """Adafactor has 0 for what it holds of matrices alone, which is no number of a parameter."""
    expected = {"torch.nadam": ["mu_product"], "torch.asgd": ["eta", "mu"], "torch.adafactor": [], "adam": []}
    for optimizer, numbers_of_all in expected.items():
        shared = [each.run["what"] for each in listed(optimizer) if each.run.get("whose") == "all parameters"]
        assert shared == numbers_of_all


def test_nan_may_be_replaced_by_0_and_infinities_by_the_largest_number() -> None:
    largest = np.finfo(np.float32).max
    poisoned = np.array([np.nan, np.inf, -np.inf, 2.0], np.float32)
    case = CASE.only([0]).replace(parameters=(np.ones(4, np.float32),), grads=((poisoned,),), learning_rates=(1.0,))
    ((taken,),) = [
        each.fed(case).grads[0] for each in listed("momentum") if each.run.get("new") == "0 and the largest number"
    ]
    assert taken.tolist() == [0.0, largest, -largest, 2.0]


def test_a_case_without_elements_or_steps_has_no_gradients_of_all_magnitudes() -> None:
    assert len(list(of_all_magnitudes(CASE))) == 1
    assert list(of_all_magnitudes(CASE.only([]))) == []
    assert list(of_all_magnitudes(CASE.replace(grads=(), learning_rates=()))) == []


def test_what_is_skipped_is_not_given() -> None:
    (skipped,) = named("skips every 2nd update")
    assert numbers(skipped.mistake.fed(CASE).grads) == [[None, 2], [None, None], [1, 1]]
    (never,) = named("skips every update")
    assert numbers(never.mistake.fed(CASE).grads) == [[None, None]] * 3
    (dropped,) = named("leaves out the last of several tensors")
    assert numbers(dropped.mistake.fed(CASE).grads) == [[None, None], [3, None], [1, None]]
    assert dropped.mistake.fed(CASE.only([1])).grads[0][0] is Y


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "torch.adamw"])
def test_what_never_updates_is_said_to(optimizer: str) -> None:
    """No formula of a step that is 0, and no slot that stays 0 where there is no AMSGrad."""
    verdict = verdict_of(with_hooks(optimizer, grads=lambda grads: [None] * len(grads)), optimizer)
    assert (verdict.verdict, *map(str, verdict.computes.parts)) == ("diverges", "documented, but skips every update")


@pytest.mark.parametrize(("kept", "which"), [(True, ""), (False, ", though not in the state")])
def test_elements_without_a_gradient_may_be_left_out_of_the_step_alone(kept: bool, which: str) -> None:
    """Of the step alone by Owl's Adam, which multiplies by ``g / (g + 1e-32)``."""

    class Masked(RuleRun):
        def step(self, grads: Any, learning_rate: float) -> Any:
            training = self.training
            before, states = list(training.parameters), list(training.states)
            super().step(grads, learning_rate)
            for i, grad in enumerate(grads):
                if grad is not None:
                    training.parameters[i] = np.where(grad == 0, before[i], training.parameters[i])
                    slots = ((slot, x) for slot, x in training.states[i].items() if kept and np.shape(x) == grad.shape)
                    changed = {slot: np.where(grad == 0, states[i][slot], x) for slot, x in slots}
                    training.states[i] = State(**{**training.states[i], **changed})
            return [np.array(param) for param in training.parameters]

    verdict = verdict_of(Instead(Masked, "adam"), "adam")
    words = f"documented, but leaves out the elements whose gradient is 0{which}"
    assert (verdict.verdict, *map(str, verdict.computes.parts)) == ("diverges", words)


def test_elements_that_are_left_out_keep_their_bits() -> None:
    (last,) = named("leaves out the last element of every tensor")
    grad = np.arange(1, 4, dtype=np.float32)
    value = last.expected(CASE.replace(parameters=(grad,), grads=((grad,),), learning_rates=(1.0,))).value
    np.testing.assert_array_equal(value, [[0.0, 0.0, 3.0]])


def test_every_two_lists_of_elements_differ_in_the_sizes_that_tell_them_apart() -> None:
    masks = [b"".join(places(size).tobytes() for size in SIZES) for _, places in places_left_out()]
    assert len(set(masks)) == len(masks)
    (case,) = of_all_sizes(CASE)
    assert tuple(param.size for param in case.parameters) == SIZES
    assert len(case.grads) == 3


def test_a_number_in_storage_is_known_exactly_unless_its_bound_crosses_a_boundary() -> None:
    dtype = np.dtype(ml_dtypes.bfloat16)
    value, near = 1.00001, 1 + 2.0**-8  # half way between 1 and the next bfloat16
    held = stored(Bounded(np.array([value, near]), np.array([1e-6, 1e-6]), FORMATS["float32"]), "bfloat16")
    np.testing.assert_array_equal(held.value[0], 1.0)
    assert held.bound[0] == 0
    assert held.bound[1] == 2.0**-7
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    bounds = 10.0 ** rng.uniform(-6, 0, 200)
    ends = stored(Bounded(values, bounds, FORMATS["float32"]), "bfloat16")
    for share in (-SLACK, -0.3, 0.7, SLACK):
        rounded = (values + share * bounds).astype(dtype).astype(np.float64)
        assert (np.abs(rounded - ends.value) <= ends.bound).all()


def test_a_mistake_of_a_run_is_refuted_by_a_law_that_it_does_not_break() -> None:
    (late,) = named("returns the parameters of the step before")
    assert late.mistake.may_break(LAWS["resuming"])
    assert not late.mistake.may_break(LAWS["repeatable"])
    (held,) = {each.mistake.breaks for each in named("keeps velocity in bfloat16")}
    assert LAWS["permutation"].check not in held


def test_a_replaced_nan_is_a_mistake_only_where_a_law_says_so() -> None:
    (adapter,) = named("takes 0 for NaN in gradients")
    assert adapter.mistake.is_shown([LAWS["rest"], LAWS["nonfinite_gradients_act"]])
    assert not adapter.mistake.is_shown([LAWS["rest"]])


def cases_of(optimizer: str, dtype: str, count: int) -> Callable[[], Iterator[Case]]:
    return lambda: drawn_cases(SUBJECTS[optimizer], dtype, seed=0, count=count)


def found_of(target: Any, optimizer: str, dtype: str = "float32", *, refuted: bool) -> Any:
    observed = Observed.of(target, optimizer, dtype, cases_of(optimizer, dtype, 3), Guard())
    return in_parts(observed, [], refuted=refuted)


@pytest.mark.parametrize("refuted", [True, False])
@pytest.mark.parametrize("optimizer", ["sgd", "exponential_moving_average"])
def test_an_honest_target_does_nothing_beside_its_rule(optimizer: str, refuted: bool) -> None:
    outcome = found_of(NumpyTarget(), optimizer, refuted=refuted)
    assert outcome is None or isinstance(outcome[0], Split)  # of two rules that are the documented one on these cases


@pytest.mark.parametrize(
    "style", [style for style in STYLES.values() if "momentum" in rules_of(style)][::4], ids=lambda style: style.name
)
def test_an_honest_equivalent_does_nothing_beside_its_rule(style: Any) -> None:
    assert found_of(StyledTarget(style), "momentum", refuted=True) is None


def test_an_honest_dialect_does_nothing_beside_its_rule() -> None:
    assert found_of(computing(class_named("momentum", "learning_rate_inside")), "momentum", refuted=True) is None


def noisy(documented: Any, parameters: list[Any]) -> Any:
    """The documented rule with noise, the same in every run."""
    run: Any = run_of(documented, parameters)
    plain, rng = run.step, np.random.default_rng(0)
    run.step = lambda grads, rate: [
        np.asarray(x + rng.normal(size=x.shape) * 0.01).astype(x.dtype) for x in plain(grads, rate)
    ]
    return run


def windowed(documented: Any, parameters: list[Any]) -> Any:
    """Another algorithm: the mean of the last three parameters."""
    run: Any = run_of(documented, parameters)
    plain, last = run.step, []

    def step(grads: Any, rate: float) -> list[Any]:
        last[:] = [*last[-2:], plain(grads, rate)]
        return [np.asarray(sum(each) / len(last)).astype(each[0].dtype) for each in zip(*last, strict=True)]

    run.step = step
    return run


@pytest.mark.parametrize("optimizer", ["asgd", "rmsprop"])
@pytest.mark.parametrize(
    ("begin", "parts"),
    [(noisy, []), (windowed, ["no known rule where step >= 2", "documented where step < 2"])],
)
def test_nothing_is_invented_for_noise_or_another_algorithm(begin: Any, parts: list[str], optimizer: str) -> None:
    verdict = verdict_of(Instead(begin, optimizer), optimizer)
    assert (verdict.verdict, verdict.computes) == ("diverges", Computes(parts=verdict.computes.parts))
    assert list(map(str, verdict.computes.parts)) == parts


def test_a_run_outlives_itself_only_in_the_second_of_two() -> None:
    (case,) = surviving.of_fresh_sizes([CASE])
    assert (case.parameters[0].size, len(case.grads)) == (surviving.FRESH, surviving.STEPS)
    counted = Mistaken(Explanation(documented_class("momentum")), next(surviving.mistakes()))
    target = NumpyTarget()
    run = target.start("momentum", case.hyper, list(case.parameters))
    for grads, rate in case.steps:
        run.step(list(grads), rate)
    again = target.start("momentum", case.hyper, list(case.parameters))
    again.training.states = run.training.states
    after = np.stack([again.step(list(grads), rate)[0] for grads, rate in case.steps])
    value = counted.expected(case)
    assert (np.abs(after - value.value) <= SLACK * value.bound).all()
    first = trajectory(target, case, Guard())
    assert (np.abs(first - value.value) > SLACK * value.bound).any()


@pytest.mark.parametrize("what", ["gradients", "each step"])
def test_what_is_rounded_is_seen_in_what_a_target_does(what: str) -> None:
    (rounding,) = (
        x for x in listed("sgd", "float64") if (x.run.get("what"), x.run.get("format")) == ([what], "float32")
    )
    case = next(case for case in drawn_cases(SUBJECTS["sgd"], "float64", seed=0, count=9) if case.size > 1)

    def run(case: Case) -> Any:
        return trajectory(NumpyTarget(), case, Guard())

    def run_rounding(case: Case) -> Any:
        single = case.mapped(grad=through("float32"))
        return run(single) if what == "gradients" else through("float32")(run(single))

    assert not rounding.seen(run, [case])
    assert rounding.seen(run_rounding, [case])
