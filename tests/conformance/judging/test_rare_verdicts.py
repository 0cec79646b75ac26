"""What rare cases decide: flushed subnormals are no other rule, and an explanation of all drawn cases may be wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.instead import computing as computing_explanation
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.own import for_torch
from tests.conformance.judged import FEW, QUICK, class_named, flushed, verdict_of

Array = Any


class PerParameter:
    """A run that updates each parameter by itself, and counts its steps."""

    def __init__(
        self, parameters: list[Array], update: Callable[[dict[str, Array], Array, Array, float], Array]
    ) -> None:
        self.update, self.parameters = update, [param.copy() for param in parameters]
        self.states: list[dict[str, Array]] = [
            {"m": np.zeros_like(param), "v": np.zeros_like(param), "t": 0} for param in parameters
        ]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        for i, grad in enumerate(grads):
            if grad is not None:
                self.states[i]["t"] += 1
                with np.errstate(all="ignore"):
                    after = self.update(self.states[i], self.parameters[i], grad, learning_rate)
                self.parameters[i] = np.asarray(after, grad.dtype)
        return self.parameters


def computing(update: Callable[[Any], Any], optimizer: str) -> Instead:
    """A target whose runs update as the hyperparameters say."""
    return Instead(lambda rule, parameters: PerParameter(parameters, update(rule)), optimizer)


def adamax_on_flushing_hardware(rule: Any) -> Any:
    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        kind = grad.dtype.type
        grad = flushed(grad)
        kept = flushed(flushed(kind(rule.beta1) * state["m"]) + flushed(kind(1 - rule.beta1) * grad))
        largest = np.maximum(flushed(kind(rule.beta2) * state["v"]), np.abs(grad))
        state["m"], state["v"] = kept, largest
        ratio = flushed(np.where(largest == 0, 0, kept / np.where(largest == 0, 1, largest)).astype(kind))
        return flushed(flushed(param) - flushed(kind(rate / (1 - rule.beta1 ** state["t"])) * ratio))

    return update


def adam_with_beta2_in_its_dtype(rule: Any) -> Any:
    """All else is computed in float64, and rounded once."""

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        beta2, wide = float(grad.dtype.type(rule.beta2)), grad.astype(np.float64)
        state["m"] = rule.beta1 * state["m"] + (1 - rule.beta1) * wide
        state["v"] = beta2 * state["v"] + (1 - beta2) * wide * wide
        first, second = state["m"] / (1 - rule.beta1 ** state["t"]), state["v"] / np.float64(1 - beta2 ** state["t"])
        return param.astype(np.float64) - rate * first / (np.sqrt(second) + rule.epsilon)

    return update


def test_nan_is_not_excused_by_flushing_that_leaves_no_bound() -> None:
    """In float16 a decay of 0.99994 is 1, and 1 - beta2**t 0; where squares may be flushed, all would be allowed."""
    verdict = verdict_of(computing(adam_with_beta2_in_its_dtype, "papers.adam"), "papers.adam", "float16", QUICK)
    assert verdict.verdict == "diverges"
    assert verdict.reason.startswith("returned NaN at step 1, element 0, where the documented formula gives")


def adagrad_that_guards_its_quotient(rule: Any) -> Any:
    """As Polaris and Optax do: where the root is 0 there is no step, also of a gradient whose square underflows."""

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        kind = grad.dtype.type
        state["v"] = state["v"] + np.square(grad)
        factor = np.where(state["v"] > 0, 1 / (np.sqrt(state["v"]) + kind(rule.epsilon)), kind(0))
        return param - kind(rate) * (grad * factor)

    return update


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_square_that_underflows_excuses_no_step_of_0(dtype: str) -> None:
    """Its gradient is a normal number, and so is the documented step: lr/eps times that."""
    target = computing(adagrad_that_guards_its_quotient, "adagrad")
    target.pinned = {"adagrad": {"initial_accumulator_value": 0.0}}  # type: ignore[attr-defined]
    verdict = verdict_of(target, "adagrad", dtype, QUICK)
    assert (verdict.verdict, "float32 arithmetic" in verdict.reason) == ("diverges", False)


def sign_of_momentum(rule: Any, limited: Callable[[Array], Array] = np.sign) -> Any:
    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        kind = grad.dtype.type
        state["m"] = kind(rule.beta2) * state["m"] + kind(1 - rule.beta2) * grad
        decayed = param - kind(rate) * kind(rule.weight_decay) * param
        return decayed - kind(rate) * limited(state["m"])

    return update


def lion_without_a_hessian(rule: Any) -> Any:
    """As Sophia's step where its curvature is never filled: tiny momenta move by less than their sign."""
    return sign_of_momentum(rule, lambda m: np.sign(m) * np.minimum(np.abs(m) / m.dtype.type(1e-15), 1))


def test_a_dialect_is_not_computed_where_numbers_are_tiny() -> None:
    """It explains every drawn case but for numbers that are as tiny as those that hardware flushes."""
    verdict = verdict_of(computing(lion_without_a_hessian, "papers.lion"), "papers.lion", effort=QUICK)
    assert (verdict.verdict, str(verdict.computes)) == ("dialect", "sign_of_momentum")
    around = "gradients around 2^-40, gradients around 2^-55"
    assert verdict.reason.endswith(f"; but for {around} and tiny gradients, whose squares are subnormal")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_quotient_of_flushed_numbers_is_no_other_rule(dtype: str) -> None:
    verdict = verdict_of(computing(adamax_on_flushing_hardware, "papers.adamax"), "papers.adamax", dtype)
    assert (verdict.verdict, str(verdict.computes)) == ("conforms", "documented; flushes subnormals")


def adagrad_on_flushing_hardware(rule: Any) -> Any:
    """What takes no step where the sum is 0, as JAX' own does."""

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        state["v"] = flushed(state["v"] + flushed(np.square(grad)))
        root = np.where(state["v"] > 0, np.sqrt(state["v"]), np.inf)
        return param - grad.dtype.type(rate) * (grad / root).astype(grad.dtype)

    return update


def test_a_quotient_that_the_document_leaves_open_is_open_beside_flushed_numbers() -> None:
    target: Any = computing(adagrad_on_flushing_hardware, "papers.adagrad")
    target.pinned = {"papers.adagrad": {"delta": 0.0}}
    verdict = verdict_of(target, "papers.adagrad")
    assert (verdict.verdict, str(verdict.computes)) == ("conforms", "documented; flushes subnormals")


def rmsprop_by_increments(rule: Any) -> Any:
    """What TensorFlow's kernel computes: of a decay of 0 as well, a mean that was large leaves a rounding error."""

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        kind, grad, at = grad.dtype.type, flushed(grad), state.setdefault
        mean, mean_grad, velocity = at("r", state["v"]), at("a", state["v"]), at("u", state["v"])
        state["r"] = mean = flushed(mean + flushed(flushed(grad * grad) - mean) * kind(1 - rule.rho))
        if rule.centered:
            state["a"] = mean_grad = flushed(mean_grad + flushed(grad - mean_grad) * kind(1 - rule.rho))
        inner = flushed(mean - flushed(mean_grad * mean_grad)) + kind(rule.epsilon)
        step = flushed(flushed(kind(rate) * grad) / np.sqrt(inner))
        state["u"] = velocity = flushed(flushed(kind(rule.momentum) * velocity) + step)
        return flushed(flushed(param) - velocity)

    return update


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_increments_where_subnormals_are_flushed_are_no_other_rule(dtype: str) -> None:
    """Every drawn case is explained without increments: the rare one of a decay of 0 asks for them."""
    verdict = verdict_of(computing(rmsprop_by_increments, "rmsprop"), "rmsprop", dtype)
    assert (verdict.verdict, verdict.computes.rule) == ("imprecise", "documented")
    assert verdict.computes.arithmetic == ["flushes_subnormals", "incremental_moments"]
    assert verdict.reason.endswith(
        "; moments formed as increments; drawn cases alone would not show it, as the counterexample does"
    )
    assert Case.from_json(verdict.counterexample["case"]).hyper["rho"] == 0


def adam_in_float32_by_increments(rule: Any) -> Any:
    """What NumPy's backend of Keras computes of float64 parameters."""

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        grad, kind = grad.astype(np.float32), np.float32
        for name, new, beta in (("m", grad, rule.beta1), ("v", grad * grad, rule.beta2)):
            before = state[name].astype(np.float32)
            state[name] = before + (new - before) * kind(1 - beta)
        first, second = (kind(1) - kind(beta) ** kind(state["t"]) for beta in (rule.beta1, rule.beta2))
        step = state["m"] * (kind(rate) * np.sqrt(second) / first) / (np.sqrt(state["v"]) + kind(rule.epsilon))
        return param.astype(np.float32) - step

    return update


@pytest.mark.slow
def test_increments_in_a_narrower_format_are_no_other_rule() -> None:
    verdict = verdict_of(computing(adam_in_float32_by_increments, "adam"), "adam", "float64", FEW)
    assert (verdict.verdict, verdict.computes.rule) == ("imprecise", "documented")
    assert verdict.computes.arithmetic == ["incremental_moments", "computed_in_float32"]
    assert verdict.reason.endswith("; drawn cases alone would not show it, as the counterexample does")


def capturable() -> Any:
    """Return a class of torch; the test is skipped where torch is not installed."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Capturable(torch.optim.Optimizer):
        """Adam with float32 counts, and the rate in the divisor: 0/0 at a rate of 0, where a gradient is 0."""

        def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8):
            super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

        @torch.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                (beta1, beta2), rate, eps = group["betas"], group["lr"], group["eps"]
                for param in (param for param in group["params"] if param.grad is not None):
                    state, grad = self.state[param], param.grad
                    if not state:
                        state.update(step=torch.tensor(0.0, dtype=torch.float32))
                        state.update(m=torch.zeros_like(param), v=torch.zeros_like(param))
                    state["step"] += 1
                    state["m"].mul_(beta1).add_(grad, alpha=1 - beta1)
                    state["v"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                    first, second = (1 - beta ** state["step"] for beta in (beta1, beta2))
                    size = -rate / first
                    param.addcdiv_(state["m"], state["v"].sqrt() / (second.sqrt() * size) + eps / size)

    return Capturable


@pytest.mark.slow
def test_nan_at_a_rate_of_0_is_not_excused_by_less_precision() -> None:
    verdict = verdict_of(for_torch(capturable(), "papers.adam"), "papers.adam", "float64", FEW)
    assert verdict.verdict == "diverges"
    assert "returned NaN at step 1, element 0, where the documented formula gives" in verdict.reason
    elsewhere = verdict.reason.partition("; elsewhere ")[2]
    assert elsewhere.startswith("the documented rule; ")
    assert elsewhere.endswith(" combined in float32"), "which numbers, more cases would say"


def lars_by_the_norm_of_a_sum_on_flushing_hardware(rule: Any, *, decays: bool = True) -> Any:
    """What BYOL's LARS computes where XLA compiles it: the norm of numbers whose squares are subnormal is 0.

    Without ``decays``, that of the gradient alone, which is declared nowhere.
    """

    def update(state: dict[str, Array], param: Array, grad: Array, rate: float) -> Array:
        kind = grad.dtype.type
        decayed = grad + kind(rule.weight_decay) * param
        before, step = (np.sqrt(np.sum(flushed(np.square(x)))) for x in (param, decayed if decays else grad))
        ratio = kind(rule.eta) * before / step if before > 0 and step > 0 else kind(1)
        state["m"] = kind(rule.momentum) * state["m"] + ratio * decayed
        return param - kind(rate) * state["m"]

    return update


@pytest.mark.slow
def test_a_formula_that_is_found_may_flush_what_only_a_rare_case_shows() -> None:
    target = computing(partial(lars_by_the_norm_of_a_sum_on_flushing_hardware, decays=False), "papers.lars")
    verdict = verdict_of(target, "papers.lars", "float64")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "found")
    assert verdict.computes.formula == (
        "zero_norm=plain_rate, rate_placement=outside with norm(grad) + weight_decay*norm(param) -> norm(grad)"
    )
    assert verdict.computes.arithmetic == ["flushes_subnormals"]


def test_a_rule_of_another_book_names_what_drawn_cases_show() -> None:
    target = computing(lars_by_the_norm_of_a_sum_on_flushing_hardware, "papers.lars")
    verdict = verdict_of(target, "papers.lars", "float64")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "lars_momentum:norm_of_sum_learning_rate_outside")


def test_a_reason_says_which_cases_that_are_never_drawn_a_dialect_does_not_explain() -> None:
    amsgrad = class_named("adam", "amsgrad")

    def without_zero(rule: Any, parameters: list[Array]) -> Any:
        return run_of(amsgrad.of({**rule.hyper(), "epsilon": rule.epsilon or 1e-7}), parameters)

    verdict = verdict_of(Instead(without_zero, "adam"), "adam", effort=QUICK)
    assert str(verdict.computes) == "amsgrad"
    assert verdict.reason.endswith("; but for epsilon = 0")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((0, 32), "but for a learning rate of 64"),
        ((0, 2), "but for a learning rate of 4 and a learning rate of 64"),
        ((5e-9, 32), "but for a learning rate of 0, learning rates below 1e-08 and a learning rate of 64"),
        ((1e-7, 2), "but for a learning rate of 0, a learning rate of 4 and 2 more such cases"),
    ],
)
def test_of_the_cases_that_contradict_a_dialect_the_first_are_named(limits: tuple[float, float], words: str) -> None:
    class Limited(PerParameter):
        def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
            return super().step(grads, float(np.clip(learning_rate, *limits)))

    target = Instead(lambda rule, parameters: Limited(parameters, sign_of_momentum(rule)), "papers.lion")
    verdict = verdict_of(target, "papers.lion", effort=QUICK)
    assert str(verdict.computes) == "sign_of_momentum"
    assert verdict.reason.endswith(f"; {words}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_averages_may_be_formed_as_increments_where_a_rare_case_alone_shows_it(dtype: str) -> None:
    """With a beta2 of 0, as in Keras' Adam: what an increment is added to is lost, and only what is left counts."""
    increments = Explanation(class_named("torch.adam", "uncorrected_epsilon"), Arithmetic(incremental_moments=True))
    verdict = verdict_of(computing_explanation(increments), "torch.adam", dtype, effort=QUICK)
    assert str(verdict.computes) == "uncorrected_epsilon; moments formed as increments"
    assert "but for" not in verdict.reason
