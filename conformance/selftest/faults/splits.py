"""Targets that compute one rule where a case or a tensor has a property, and another elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads, dialect_of, running
from optimetry.conformance.selftest.faults.mutations import mutant
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named

Formula = Callable[[Rule], Any]
"""Another rule, from the documented one."""


def _dialect(name: str) -> Formula:
    return lambda rule: dialect_of(rule, name)


def _rule(name: str, *taken: str) -> Formula:
    """Another documented rule, with these hyperparameters of the first."""
    return lambda rule: rule_named(name).of({each: rule.hyper()[each] for each in taken})


def _mutated(old: str, new: str) -> Formula:
    """The documented rule with one text replaced in its source."""
    return lambda rule: mutant(rule.name, (old, new)).of(rule.hyper())


def _without_decay(rule: Any) -> Any:
    return dataclasses.replace(rule, lamb_weight_decay=0.0)


def _where(test: Callable[[Mapping[str, Any]], bool], other: Formula) -> Start:
    """Runs of another rule where the hyperparameters pass a test."""
    return running(lambda rule: other(rule) if test(rule.hyper()) else rule)


class _PerTensor:
    """Runs each tensor alone, by another rule where it passes a test."""

    def __init__(self, runs: list[RuleRun]) -> None:
        self.runs = runs

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        return [run.step([grad], learning_rate)[0] for run, grad in zip(self.runs, grads, strict=True)]


def _for_tensors(test: Callable[[Array], bool], other: Formula) -> Start:
    def start(rule: Rule, parameters: list[Array], memory: Memory) -> _PerTensor:
        return _PerTensor([RuleRun(other(rule) if test(param) else rule, [param]) for param in parameters])

    return start


def _split(other: str, where: str, elsewhere: str) -> str:
    return f"diverges: {other} where {where}; documented where {elsewhere}"


FEW, MANY = "number of dimensions < 2", "number of dimensions >= 2"

enter(
    Fault(
        name="dialect_unless_nesterov",
        optimizer="momentum",
        defect="the learning rate is inside the velocity, but not where use_nesterov is true",
        start=_where(lambda hyper: not hyper["use_nesterov"], _dialect("learning_rate_inside")),
        outcome=_split("learning_rate_inside", "use_nesterov is false", "use_nesterov is true"),
        dtypes=("float32", "float64"),
        because="computes learning_rate_inside where use_nesterov is false, and the documented rule where",
    ),
    Fault(
        name="dialect_when_centered",
        optimizer="rmsprop",
        defect="epsilon is outside the root where the variance normalizes",
        start=_where(lambda hyper: bool(hyper["centered"]), _dialect("epsilon_outside")),
        outcome=_split("epsilon_outside", "centered is true", "centered is false"),
    ),
    Fault(
        name="dialect_at_the_default_power",
        optimizer="ftrl",
        defect="the usual lr_power has a path of its own, in which L2 is not doubled",
        start=_where(lambda hyper: bool(hyper["lr_power"] == -0.5), _dialect("l2_not_doubled")),
        outcome=_split("l2_not_doubled", "lr_power is -0.5", "lr_power is not -0.5"),
    ),
    Fault(
        name="dialect_without_l1",
        optimizer="ftrl",
        defect="a path of its own where l1 is zero, with the fraction as printed",
        start=_where(lambda hyper: bool(hyper["l1"] == 0), _dialect("printed_fraction")),
        outcome=_split("printed_fraction", "l1 is 0", "l1 is not 0"),
    ),
    Fault(
        name="vectors_by_sgd",
        optimizer="lars_momentum",
        defect="biases and gains are left out of LARS, and updated by SGD",
        start=_for_tensors(lambda param: param.ndim < 2, _rule("sgd")),
        outcome=_split("sgd", FEW, MANY),
    ),
    Fault(
        name="vectors_at_the_plain_rate",
        optimizer="lars_momentum",
        defect="biases and gains have the local rate lr, with velocity and decay: open-lars 0.1.1",
        start=_for_tensors(
            lambda param: param.ndim < 2, _mutated("np.where((param_norm > 0) & (grad_norm > 0), scaled, lr)", "lr")
        ),
        outcome=_split(
            "where(norm(param) > 0 and norm(grad) > 0, lr*lars_coeff*norm(param)/(norm(grad) +"
            " lars_weight_decay*norm(param)), lr) -> lr",
            FEW,
            MANY,
        ),
    ),
    Fault(
        name="vectors_by_adam",
        optimizer="lamb",
        defect="biases and gains are left out of LAMB, and updated by Adam",
        start=_for_tensors(lambda param: param.ndim < 2, _rule("adam", "beta1", "beta2", "epsilon")),
        outcome=_split("adam", FEW, MANY),
    ),
    Fault(
        name="vectors_without_decay",
        optimizer="lamb",
        defect="biases and gains are left out of weight decay",
        start=_for_tensors(lambda param: param.ndim < 2, _without_decay),
        outcome="diverges: documented, but decays only tensors of two or more dimensions",
    ),
    Fault(
        name="vectors_without_decay_and_ratio",
        optimizer="lamb",
        defect="biases and gains are left out of weight decay, and of the ratio: how BERT is trained",
        start=_for_tensors(
            lambda param: param.ndim < 2, lambda rule: _dialect("zero_decay_ratio_one")(_without_decay(rule))
        ),
        outcome=_split("zero_decay_ratio_one with lamb_weight_decay = 0", FEW, MANY),
    ),
    Fault(
        name="vectors_by_a_dialect",
        optimizer="adam",
        defect="vectors go through a fused path that computes a dialect",
        start=_for_tensors(lambda param: param.ndim < 2, _dialect("scaled_epsilon")),
        outcome=_split("scaled_epsilon", FEW, MANY),
    ),
    Fault(
        name="single_elements_by_a_dialect",
        optimizer="adam",
        defect="what holds one element goes through a scalar path that computes a dialect",
        start=_for_tensors(lambda param: param.size == 1, _dialect("scaled_epsilon")),
        outcome=_split("scaled_epsilon", "number of elements is 1", "number of elements is not 1"),
    ),
)
