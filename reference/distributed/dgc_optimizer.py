"""The documented class DGCMomentumOptimizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from optimetry.reference.accumulators import ParameterLike
from optimetry.reference.arguments import checked_regularizer, one_of
from optimetry.reference.clips import GradientClipBase
from optimetry.reference.distributed.dgc_momentum import DGCMomentum
from optimetry.reference.optimizer import Optimizer, Pairs
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rule import Rule


class DGCMomentumOptimizer(Optimizer):
    """Momentum with deep gradient compression (`DGCMomentum`); a program or eager step is that of a single worker.

    Several workers are `optimetry.reference.distributed.training.DGCTraining`, in one process, and
    `optimetry.accelerated.distributed`, with one process each.

    Args:
        learning_rate: see `Optimizer`.
        momentum: in [0, 1).
        rampup_begin_step: the first step, from 0, whose gradients are compressed.
        rampup_step: how many steps the list of sparsities lasts; afterwards the sparsity is 0.999.
        sparsity: the shares of entries that are held back, each in [0, 1).
        use_nesterov: whether to look ahead along the velocity.
        local_grad_clip_norm: the norm of all workers' gradients together; each worker clips to its share.
        num_trainers: how many workers there are; needed with ``local_grad_clip_norm``.
        regularization: a regularizer; its term is added behind the local clip.
        name: see `Optimizer`.
        parameter_list: see `Optimizer.minimize`.
        parameters: the later name of ``parameter_list``.
        grad_clip: a clip, which comes before all of this.

    Raises:
        HyperparameterError: a hyperparameter is outside its domain, or ``num_trainers`` is missing.
        ArgumentError: another argument is of the wrong type.

    Documented: fluid.optimizer.DGCMomentumOptimizer (page 000).
    """

    rule: DGCMomentum

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        rampup_begin_step: int,
        rampup_step: int = 1,
        sparsity: Sequence[float] = [0.999],  # as documented; never changed
        use_nesterov: bool = False,
        local_grad_clip_norm: float | None = None,
        num_trainers: int | None = None,
        regularization: WeightDecayRegularizer | None = None,
        name: str | None = None,
        *,
        parameter_list: Iterable[Any] | None = None,
        parameters: Iterable[Any] | None = None,
        grad_clip: GradientClipBase | None = None,
    ) -> None:
        label = DGCMomentum.name
        rule = DGCMomentum(
            momentum=momentum,
            rampup_begin_step=rampup_begin_step,
            rampup_step=rampup_step,
            sparsity=sparsity,
            use_nesterov=use_nesterov,
            local_grad_clip_norm=local_grad_clip_norm,
            num_trainers=num_trainers,
        )
        super().__init__(
            learning_rate,
            one_of(label, parameter_list=parameter_list, parameters=parameters),
            checked_regularizer(label, "regularization", regularization),
            grad_clip,
            name,
            rule=rule,
        )

    def rule_for(self, parameter: ParameterLike) -> Rule:
        """The rule with the regularizer of the parameter, or else of the optimizer: it acts behind the local clip."""
        own = checked_regularizer(self.label, f"the regularizer of {parameter.name}", parameter.regularizer)
        return replace(self.rule, regularizer=self.regularization if own is None else own)

    def _regularized(self, params_grads: Pairs) -> Pairs:
        return params_grads
