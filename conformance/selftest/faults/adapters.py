"""Mistakes of adapters: the rule is right, and is given other inputs than the target was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads, dialect_of, hooked
from optimetry.conformance.selftest.faults.missing import MissingIsZero
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import RuleRun, run_of
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Rule

Passed = Callable[[Mapping[str, Any], Memory], Mapping[str, Any]]
"""The hyperparameters that an adapter passes on, from those that it was given."""


def _passing(passed: Passed, dialect: str | None = None) -> Start:
    """Runs of the documented formula, or of a dialect, with other hyperparameters."""

    def start(documented: Declared, parameters: list[Array], memory: Memory) -> Any:
        formula = documented if dialect is None else dialect_of(documented, dialect)
        for name, value in passed(documented.hyper(), memory).items():
            object.__setattr__(formula, name, value)  # unchecked, as in a framework that takes any number
        return run_of(formula, parameters)

    return start


def _defaults(*names: str) -> Passed:
    """Leave hyperparameters out, so that they keep their defaults; all of them where none is named."""
    return lambda hyper, memory: {name: DEFAULTS[name] for name in names or hyper}


DEFAULTS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "lamb_weight_decay": 0.01}
"""Those of LAMB."""


def _first_run(*names: str) -> Passed:
    """Pass on what the first run was given: an object is made once, and used again."""
    return lambda hyper, memory: {name: memory.setdefault(name, hyper[name]) for name in names}


class NeverCleared(RuleRun):
    """Adds each gradient to those before it."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters)
        self._sums = [np.zeros_like(param) for param in parameters]

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update by the sums."""
        for total, grad in zip(self._sums, grads, strict=True):
            if grad is not None:
                np.add(total, grad, out=total)
        summed = [None if grad is None else total.copy() for total, grad in zip(self._sums, grads, strict=True)]
        return super().step(summed, learning_rate)


def _held_at_the_first(optimizer: str, name: str) -> str:
    """Return the outcome for a hyperparameter held at that of the first case that faults are tried on."""
    (case,) = drawn_cases(subject_named(optimizer), "float32", seed=0, count=1)
    return f"diverges: documented with {name} = {case.hyper[name]:g} whatever is given"


class NumbersOfTheLast(RuleRun):
    """Computes with the hyperparameters of the run that was begun last."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters)
        self._memory = memory
        memory["rule"] = rule

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update by the rule begun last."""
        self.training.rule = self._memory["rule"]
        return super().step(grads, learning_rate)


enter(
    Fault(
        name="numbers_of_the_class",
        optimizer="momentum",
        defect="hyperparameters are attributes of the class: a second optimizer changes those of the first",
        start=NumbersOfTheLast,
        rejected_by="runs_side_by_side",
    ),
    Fault(
        name="decay_of_zero_replaced",
        optimizer="rmsprop",
        defect="rho or 0.95: 0 is taken for none",
        start=_passing(lambda hyper, memory: {"rho": hyper["rho"] or 0.95}),
        outcome="diverges: documented, but takes 0.95 for rho = 0",
    ),
    Fault(
        name="decays_of_four_digits",
        optimizer="adam",
        defect="hyperparameters are passed on as text with four decimals",
        start=_passing(lambda hyper, memory: {name: round(hyper[name], 4) for name in ("beta1", "beta2")}),
        dtypes=("float64",),  # in float32 as much is lost where a number near 1 is subtracted from 1
    ),
    Fault(
        name="history_of_eight",
        optimizer="asgd",
        defect="a buffer of eight gradients, whatever the number of batches",
        start=_passing(lambda hyper, memory: {"batch_num": min(hyper["batch_num"], 8)}),
    ),
    Fault(
        name="default_epsilon",
        optimizer="adam",
        defect="the adapter does not pass epsilon on",
        start=_passing(lambda hyper, memory: {"epsilon": 1e-8}),
        outcome="diverges: documented with epsilon = 1e-08 whatever is given",
        dtypes=("float32", "float64"),
        because="(its documented default): check how arguments are passed on",
    ),
    Fault(
        name="epsilon_of_zero_replaced",
        optimizer="torch.adam",
        defect="eps or 1e-8: 0 is taken for none",
        start=_passing(lambda hyper, memory: {"eps": hyper["eps"] or 1e-8}),
        outcome="diverges: documented, but takes 1e-08 for eps = 0",
        dtypes=("float32", "float64"),
    ),
    Fault(
        name="epsilon_of_zero_replaced_by_the_spacing",
        optimizer="papers.yogi",
        defect="0 is taken for an epsilon that is lost in the dtype, as in ensmallen",
        start=_passing(lambda hyper, memory: {"epsilon": hyper["epsilon"] or 10 * float(np.finfo(np.float32).eps)}),
        outcome="diverges: documented, but takes 1.19209e-06 for epsilon = 0",
    ),
    Fault(
        name="default_betas",
        optimizer="lamb",
        defect="the adapter does not pass the decays on",
        start=_passing(_defaults("beta1", "beta2")),
        outcome="diverges: documented with beta1 = 0.9, beta2 = 0.999 whatever is given",
    ),
    Fault(
        name="default_everything",
        optimizer="lamb",
        defect="the adapter passes no hyperparameter on",
        start=_passing(_defaults()),
        outcome="diverges: documented with lamb_weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-06"
        " whatever is given",
    ),
    Fault(
        name="epsilon_of_the_first_run",
        optimizer="decayed_adagrad",
        defect="the adapter makes one object and uses it for every run",
        start=_passing(_first_run("epsilon")),
        outcome=_held_at_the_first("decayed_adagrad", "epsilon"),
        because="(that of the first case): check how arguments are passed on",
    ),
    Fault(
        name="decay_of_the_first_run",
        optimizer="exponential_moving_average",
        defect="the adapter makes one average and uses it for every run",
        start=_passing(_first_run("decay")),
        outcome=_held_at_the_first("exponential_moving_average", "decay"),
    ),
    Fault(
        name="betas_swapped",
        optimizer="adam",
        defect="the adapter passes beta1 and beta2 in the wrong order",
        start=_passing(lambda hyper, memory: {"beta1": hyper["beta2"], "beta2": hyper["beta1"]}),
        outcome="diverges: documented with beta1 and beta2 swapped",
        because="check how arguments are passed on",
    ),
    Fault(
        name="regularizations_swapped",
        optimizer="ftrl",
        defect="the adapter passes l1 and l2 in the wrong order",
        start=_passing(lambda hyper, memory: {"l1": hyper["l2"], "l2": hyper["l1"]}),
        outcome="diverges: documented with l1 and l2 swapped",
    ),
    Fault(
        name="share_of_the_new_for_that_of_the_old",
        optimizer="rmsprop",
        defect="the framework's alpha is 1 - rho, and the adapter passes rho",
        start=_passing(lambda hyper, memory: {"rho": 1 - hyper["rho"]}),
        outcome="diverges: documented with 1 - rho in place of rho",
    ),
    Fault(
        name="default_learning_rate",
        optimizer="adamax",
        defect="the adapter does not pass the learning rate on, and the framework has 0.001",
        start=hooked(rate=lambda rates: 0.001),
        outcome="diverges: documented with learning_rate = 0.001 whatever is given",
        because="check how arguments are passed on",
    ),
    Fault(
        name="learning_rate_lost",
        optimizer="momentum",
        defect="the step is not multiplied by the learning rate",
        start=hooked(rate=lambda rates: 1.0),
        outcome="diverges: documented with learning_rate = 1 whatever is given",
    ),
    Fault(
        name="scaled_epsilon_with_a_default_beta2",
        optimizer="adam",
        defect="the framework computes a dialect, and the adapter does not pass beta2 on",
        start=_passing(lambda hyper, memory: {"beta2": 0.999}, "scaled_epsilon"),
        outcome="diverges: scaled_epsilon with beta2 = 0.999 whatever is given",
    ),
    Fault(
        name="scaled_epsilon_with_a_frozen_rate",
        optimizer="adam",
        defect="the framework computes a dialect, and the adapter passes the learning rate on once",
        start=hooked("scaled_epsilon", rate=lambda rates: rates[0]),
        outcome="diverges: scaled_epsilon with the learning rate of the first step in every step",
        dtypes=("float32", "float64"),
    ),
    Fault(
        name="gradients_never_cleared",
        optimizer="adagrad",
        defect="each gradient is added to those before it, as where zero_grad is forgotten",
        start=NeverCleared,
        outcome="diverges: documented with the sum of all gradients so far in place of each",
    ),
    Fault(
        name="missing_gradient_is_zero_for_adam",
        optimizer="adam",
        defect="the adapter makes zeros of a missing gradient",
        start=MissingIsZero,
        rejected_by="missing_gradient",
        outcome="diverges: documented with zeros in place of a missing gradient",
    ),
)
