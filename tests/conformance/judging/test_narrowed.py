"""Which numbers a target holds in float32 beside float64 parameters, and whether in all of their uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.narrowed import numbers_in_float32
from optimetry.conformance.judging.identifying.observed import FEW
from optimetry.conformance.naming.explanation import Explanation, to_float32
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.mutations import mutant
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rule import Rule
from optimetry.reports.results import Computes
from tests.conformance.judged import class_named, diagnosed, flushed, verdict_of


class Subtracted(float):
    """Is rounded where it is subtracted from 1 alone."""

    def __rsub__(self, other: Any) -> Any:
        return other - to_float32(self)


class Multiplied(float):
    """Is rounded where it is a factor alone."""

    def __mul__(self, other: Any) -> Any:
        return to_float32(self) * other


def holding(rule: Rule, names: tuple[str, ...], held: Any) -> Any:
    return rule.lifted(lambda name, number: held(number) if name in names else number)


@pytest.mark.parametrize(
    ("optimizer", "names"),
    [
        ("adam", ("beta2",)),
        ("adam", ("beta1", "epsilon")),
        ("adam", ("beta1", "beta2", "epsilon", "learning_rate")),
        ("sgd", ("learning_rate",)),
        ("exponential_moving_average", ("decay",)),
        ("clip_by_value", ("max",)),
        ("clip_by_value", ("max", "min")),
        ("l2_decay", ("regularization_coeff",)),
        ("dgc_compress", ("momentum",)),
    ],
)
def test_numbers_held_in_float32_are_told_from_another_rule(optimizer: str, names: tuple[str, ...]) -> None:
    single = Explanation(documented_class(optimizer), Arithmetic(float32=names))
    diagnosis = diagnosed(computing(single), optimizer, "float64")
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect) == ("imprecise", None)
    assert diagnosis.explanation == single
    assert diagnosis.verdict.computes == Computes("documented", None, False, [{"float32": list(names)}])
    assert diagnosed(computing(single), optimizer, "float32").verdict.verdict == "conforms"


@pytest.mark.parametrize("name", ["scaled_epsilon", "epsilon_placement=inside, decay=with_lr"])
def test_another_rule_may_have_numbers_in_float32_as_well(name: str) -> None:
    both = Explanation(class_named("adam", name), Arithmetic(float32=("beta1",)))
    diagnosis = diagnosed(computing(both), "adam", "float64")
    assert (diagnosis.verdict.verdict, diagnosis.verdict.dialect, diagnosis.explanation) == ("dialect", name, both)
    assert diagnosis.verdict.computes.arithmetic == [{"float32": ["beta1"]}]


@pytest.mark.parametrize("held", [Subtracted, Multiplied])
@pytest.mark.parametrize(
    ("optimizer", "names"),
    [("rmsprop", ("rho",)), ("adam", ("beta1", "beta2")), ("papers.adamw", ("beta1", "beta2"))],
)
def test_numbers_rounded_in_one_of_their_uses_are_named(optimizer: str, names: tuple[str, ...], held: Any) -> None:
    """Of a rule with probes and of one without; two of them are not taken for two others."""
    verdict = verdict_of(
        Instead(lambda rule, parameters: run_of(holding(rule, names, held), parameters)), optimizer, "float64"
    )
    assert verdict.verdict == "imprecise"
    assert verdict.computes == Computes("documented", None, False, [{"float32_in_some_uses": list(names)}])
    assert verdict.reason == f"the documented rule; {', '.join(names)} in float32 in some uses"


@pytest.mark.parametrize(
    ("optimizer", "pinned", "named"),
    [
        ("adagrad", {"initial_accumulator_value": 0.0}, ["epsilon", "learning_rate"]),
        ("adagrad", {"initial_accumulator_value": 0.1}, ["epsilon", "initial_accumulator_value", "learning_rate"]),
        ("torch.sgd", {"dampening": 0.0, "learning_rate": 0.5, "weight_decay": 0.0}, ["momentum"]),
    ],
)
def test_a_number_that_is_pinned_is_named_where_float32_rounds_it(
    optimizer: str, pinned: dict[str, float], named: list[str]
) -> None:
    """All numbers are in float32, of which nobody sees those that float32 holds."""
    target: Any = computing(
        Explanation(documented_class(optimizer), Arithmetic(float32=subject_named(optimizer).numbers))
    )
    target.pinned = {optimizer: pinned}
    assert verdict_of(target, optimizer, "float64").computes.arithmetic == [{"float32": named}]


def test_one_that_is_rounded_throughout_is_told_from_one_that_is_not() -> None:
    def begin(rule: Any, parameters: Any) -> Any:
        return run_of(holding(holding(rule, ("beta2",), Multiplied), ("weight_decay",), to_float32), parameters)

    verdict = verdict_of(Instead(begin), "papers.adamw", "float64")
    assert verdict.reason == "the documented rule; weight_decay in float32; beta2 in float32 in some uses"


def numbers_shown(begin: Any, optimizer: str, cases: Iterable[Case]) -> Arithmetic:
    return numbers_in_float32(Instead(begin), Explanation(documented_class(optimizer)), tuple(cases), Guard())


def cases_of_asgd() -> Iterator[Case]:
    return drawn_cases(subject_named("torch.asgd"), "float64", seed=0, count=FEW)


def test_probes_show_a_number_rounded_in_one_of_its_uses() -> None:
    probes = probes_of("rmsprop", "float64")
    shown = numbers_shown(
        lambda rule, parameters: run_of(holding(rule, ("rho",), Subtracted), parameters), "rmsprop", probes
    )
    assert shown == Arithmetic(float32_in_some_uses=("rho",))


def test_cases_show_what_is_rounded() -> None:
    shown = numbers_shown(
        lambda rule, parameters: run_of(holding(rule, ("lambd",), to_float32), parameters),
        "torch.asgd",
        cases_of_asgd(),
    )
    assert shown == Arithmetic(float32=("lambd",))


def test_a_number_computed_of_others_and_then_rounded_shows_none_of_them() -> None:
    """But the learning rate, which it is where the others are 0."""
    rate = "lr / (1 + self.lambd * lr * t) ** self.alpha"
    changed = mutant("torch.asgd", (rate, f"float(np.float32({rate}))"))
    shown = numbers_shown(
        lambda rule, parameters: run_of(changed(**rule.hyper()), parameters), "torch.asgd", cases_of_asgd()
    )
    assert shown == Arithmetic(float32_in_some_uses=("learning_rate",))


@pytest.mark.slow
def test_as_few_numbers_are_named_as_explain_what_no_case_shows() -> None:
    """Of six, those of which the rounded one is computed; two of them are not enough."""
    decay = "(1 - self.lambd * eta)"
    changed = mutant("torch.asgd", (decay, f"float(np.float32({decay}))"))
    verdict = verdict_of(
        Instead(lambda rule, parameters: run_of(changed(**rule.hyper()), parameters)), "torch.asgd", "float64"
    )
    assert verdict.reason == "the documented rule; lambd, alpha, learning_rate in float32 in some uses"


def times_the_step(learning_rate: float, step: int) -> float:
    """HeavyBall's rate, which it multiplies by the number of the step in float32, and divides by it."""
    return float(np.float32(learning_rate) * np.float32(step) / np.float32(step))


@pytest.mark.slow
@pytest.mark.parametrize("momentum", [False, True])
def test_a_learning_rate_may_be_combined_with_the_number_of_the_step(momentum: bool) -> None:
    """It differs from one step without a gradient to the next, which seemed to break a law of every formula."""

    def begin(documented: Any, parameters: list[Any]) -> Any:
        run: Any = run_of(documented, parameters)
        plain, taken = run.step, []

        def step(grads: Any, learning_rate: float) -> Any:
            taken.append(learning_rate)
            return plain(grads, times_the_step(learning_rate, len(taken)))

        run.step = step
        return run

    optimizer = "momentum" if momentum else "sgd"
    verdict = verdict_of(Instead(begin), optimizer, "float64", Effort("enough", 40, 1))
    assert (verdict.verdict, verdict.reason) == (
        "imprecise",
        "the documented rule; learning_rate combined in float32",
    )


class DecaysInFloat32:
    """Adam as praxis has it, with its bias correction in decays, which are float32 numbers, and with flushed arrays."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        self.rule, self.parameters = rule, [param.copy() for param in parameters]
        self.slots = [(np.zeros_like(param), np.zeros_like(param)) for param in parameters]
        self.counts = [0 for _ in parameters]

    @np.errstate(all="ignore")
    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        one = np.float32(1)
        for i, grad in enumerate(grads):
            if grad is None:
                continue
            self.counts[i] += 1
            t, (m, v), g, kind = np.float32(self.counts[i]), self.slots[i], flushed(grad), grad.dtype.type
            decays = [np.float32(beta) for beta in (self.rule.beta1, self.rule.beta2)]
            kept = [beta * (one - beta ** (t - one)) / (one - beta**t) for beta in decays]
            m, v = (
                flushed(flushed(kind(one - beta) * new) + flushed(kind(beta) * old))
                for beta, new, old in zip(kept, (g, flushed(g * g)), (m, v), strict=True)
            )
            change = flushed(m / (np.sqrt(v) + kind(self.rule.epsilon)))
            self.parameters[i] = flushed(self.parameters[i] + flushed(kind(-learning_rate) * change))
            self.slots[i] = m, v
        return [param.copy() for param in self.parameters]


@pytest.mark.slow
def test_numbers_may_be_combined_in_float32_where_subnormals_are_flushed() -> None:
    """Steps are computed in float64: that each was rounded to float32 would be within the same bound."""
    verdict = verdict_of(Instead(DecaysInFloat32, "papers.adam"), "papers.adam", "float64")
    assert (verdict.verdict, verdict.computes.rule) == ("imprecise", "documented")
    assert verdict.computes.arithmetic == ["flushes_subnormals", {"combined_in_float32": ["beta1", "beta2"]}]


class WeightsInFloat32:
    """Adam as pytorch-optimizer's QHAdam has it: its corrected moments are means, whose weights are float32 numbers."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        self.rule, self.parameters = rule, [param.copy() for param in parameters]
        self.means = [[np.zeros_like(param), np.zeros_like(param)] for param in parameters]
        self.weights = [[np.float32(0), np.float32(0)] for _ in parameters]

    @np.errstate(all="ignore")
    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        for i, grad in enumerate(grads):
            if grad is None:
                continue
            for j, (beta, new) in enumerate(((self.rule.beta1, grad), (self.rule.beta2, grad * grad))):
                self.weights[i][j] = np.float32(1) + np.float32(beta) * self.weights[i][j]
                self.means[i][j] = self.means[i][j] + (new - self.means[i][j]) * float(1 / self.weights[i][j])
            m, v = self.means[i]
            self.parameters[i] = self.parameters[i] - learning_rate * m / (np.sqrt(v) + self.rule.epsilon)
        return [param.copy() for param in self.parameters]


@pytest.mark.slow
def test_one_decay_may_be_combined_with_the_number_of_the_step() -> None:
    verdict = verdict_of(Instead(WeightsInFloat32, "papers.adam"), "papers.adam", "float64")
    assert (verdict.verdict, verdict.reason) == ("imprecise", "the documented rule; beta1 combined in float32")
