"""The documented optimizer ASGD."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from optimetry.reference.accumulators import ParameterLike
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.optimizer import Optimizer, Pairs
from optimetry.reference.regularizers import L2DecayRegularizer, WeightDecayRegularizer
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named


class ASGD(Optimizer):
    """Stochastic average gradient (`rules.asgd.ASGD`), as page 001 documents it.

    An `L2Decay`, of the optimizer or of a parameter, is the λ of the page's formula: it acts on the step and is not
    remembered with the gradient. An `L1Decay`, for which the page has no formula, is added to the gradient.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: GradientClipBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            rule=rule_named("asgd").of({"batch_num": batch_num}),
            multi_precision=multi_precision,
        )

    def rule_for(self, parameter: ParameterLike) -> Rule:
        """The rule, with the parameter's λ."""
        decay = self._decay(parameter)
        return self.rule if decay is None else self.rule.of(self.rule.hyper() | {"weight_decay": decay.coefficient})

    def _decay(self, parameter: ParameterLike) -> L2DecayRegularizer | None:
        regularizer = self.regularization if parameter.regularizer is None else parameter.regularizer
        return regularizer if isinstance(regularizer, L2DecayRegularizer) else None

    def _regularized(self, params_grads: Pairs) -> Pairs:
        by_rule = [self._decay(parameter) is not None for parameter, _ in params_grads]
        others = [pair for pair, is_by_rule in zip(params_grads, by_rule, strict=True) if not is_by_rule]
        added = iter(self.append_regularization_ops(others, self.regularization))
        return [pair if is_by_rule else next(added) for pair, is_by_rule in zip(params_grads, by_rule, strict=True)]
