"""What the classes of page 000 share: one constructor, and the arguments that later pages add."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from optimetry.reference.arguments import checked_regularizer, one_of
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.errors import ArgumentError
from optimetry.reference.optimizer import Optimizer
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rules import rule_named

Regularizer = WeightDecayRegularizer | None


class Later(TypedDict, total=False):
    """What pages 001 to 003 add to the classes of page 000; by keyword alone, with these defaults.

    Attributes:
        parameter_list: the parameters to update (page 003); None.
        parameters: the later name of ``parameter_list`` (page 001); None.
        weight_decay: the later name of ``regularization``, a number too (page 001); None.
        grad_clip: a clip (pages 001 to 003); None.
        multi_precision: float32 master copies of low-precision parameters (page 001); False.
    """

    parameter_list: Iterable[Any] | None
    parameters: Iterable[Any] | None
    weight_decay: float | WeightDecayRegularizer | None
    grad_clip: GradientClipBase | None
    multi_precision: bool


class FluidOptimizer(Optimizer):
    """The base of the classes of page 000: it joins the two names of an argument, and builds the rule.

    Args:
        learning_rate: see `Optimizer`.
        regularization: a regularizer.
        name: see `Optimizer`.
        later: see `Later`.
        hyper: the hyperparameters of the rule.

    Raises:
        HyperparameterError: a hyperparameter is outside its domain, None or of the wrong type (a ValueError).
    """

    rule_name: str

    def __init__(
        self, learning_rate: Any, regularization: Regularizer, name: str | None, later: Later, **hyper: Any
    ) -> None:
        unknown = sorted(later.keys() - Later.__annotations__.keys())
        if unknown:
            allowed = ", ".join(Later.__annotations__)
            raise ArgumentError(f"{self.rule_name}: unknown argument {unknown[0]!r}, must be among {allowed}")
        label = self.rule_name
        checked_regularizer(label, "regularization", regularization)
        super().__init__(
            learning_rate,
            one_of(label, parameter_list=later.get("parameter_list"), parameters=later.get("parameters")),
            one_of(label, regularization=regularization, weight_decay=later.get("weight_decay")),
            later.get("grad_clip"),
            name,
            rule=rule_named(self.rule_name).of(hyper),
            multi_precision=later.get("multi_precision", False),
        )
