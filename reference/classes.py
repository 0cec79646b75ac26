"""The documented optimizers, each a thin shell over its rule.

Every class takes the arguments of its page in the order of its page; what later pages add comes after them, by keyword
alone (`Later`). The short names at the end are those of rules too: ``optimetry.reference.Adam`` is the optimizer that
users know, ``optimetry.reference.rules.adam.Adam`` its formula. No module has both; here a rule is named by the string
under which `rule_named` finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from optimetry.reference.accumulators import ParameterLike
from optimetry.reference.arguments import checked_flag, checked_function
from optimetry.reference.fluid import FluidOptimizer, Later, Regularizer
from optimetry.reference.rule import Rule


class SGDOptimizer(FluidOptimizer):
    """Stochastic gradient descent (`rules.sgd.SGD`)."""

    rule_name = "sgd"

    def __init__(
        self, learning_rate: Any, regularization: Regularizer = None, name: str | None = None, **later: Unpack[Later]
    ) -> None:
        super().__init__(learning_rate, regularization, name, later)


class MomentumOptimizer(FluidOptimizer):
    """Gradient descent with heavy-ball or Nesterov momentum (`rules.momentum.Momentum`)."""

    rule_name = "momentum"

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        use_nesterov: bool = False,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(learning_rate, regularization, name, later, momentum=momentum, use_nesterov=use_nesterov)


class LarsMomentumOptimizer(FluidOptimizer):
    """Momentum with layer-wise adaptive rate scaling (`rules.lars_momentum.LarsMomentum`)."""

    rule_name = "lars_momentum"

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(
            learning_rate,
            regularization,
            name,
            later,
            momentum=momentum,
            lars_coeff=lars_coeff,
            lars_weight_decay=lars_weight_decay,
        )


class AdagradOptimizer(FluidOptimizer):
    """Adagrad (`rules.adagrad.Adagrad`)."""

    rule_name = "adagrad"

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        regularization: Regularizer = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(
            learning_rate,
            regularization,
            name,
            later,
            epsilon=epsilon,
            initial_accumulator_value=initial_accumulator_value,
        )


class DecayedAdagradOptimizer(FluidOptimizer):
    """Adagrad with a decaying average (`rules.decayed_adagrad.DecayedAdagrad`)."""

    rule_name = "decayed_adagrad"

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.95,
        epsilon: float = 1e-6,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(learning_rate, regularization, name, later, decay=decay, epsilon=epsilon)


class AdadeltaOptimizer(FluidOptimizer):
    """Adadelta (`rules.adadelta.Adadelta`). Page 000 names it without a signature; this one is Paddle's."""

    rule_name = "adadelta"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(learning_rate, regularization, name, later, epsilon=epsilon, rho=rho)


class AdamOptimizer(FluidOptimizer):
    """Adam (`rules.adam.Adam`).

    ``lazy_mode=True``: where a gradient is sparse, rows without a gradient keep parameter and moments; repeated rows
    are summed first, and the step count is that of the whole parameter.
    """

    rule_name = "adam"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        regularization: Regularizer = None,
        name: str | None = None,
        lazy_mode: bool = False,
        **later: Unpack[Later],
    ) -> None:
        self.lazy = checked_flag("adam", "lazy_mode", lazy_mode)
        super().__init__(learning_rate, regularization, name, later, beta1=beta1, beta2=beta2, epsilon=epsilon)


class AdamaxOptimizer(FluidOptimizer):
    """Adamax (`rules.adamax.Adamax`). Sparse gradients are an error, as the page says."""

    rule_name = "adamax"
    takes_sparse = False

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(learning_rate, regularization, name, later, beta1=beta1, beta2=beta2, epsilon=epsilon)


class RMSPropOptimizer(FluidOptimizer):
    """RMSProp (`rules.rmsprop.RMSProp`).

    Page 003 puts ``parameter_list`` and ``grad_clip`` between the arguments of page 000; here they are keywords.
    """

    rule_name = "rmsprop"

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(
            learning_rate,
            regularization,
            name,
            later,
            rho=rho,
            epsilon=epsilon,
            momentum=momentum,
            centered=centered,
        )


class FtrlOptimizer(FluidOptimizer):
    """Follow the regularized leader (`rules.ftrl.Ftrl`). Sparse gradients are an error, as the page says."""

    rule_name = "ftrl"
    takes_sparse = False

    def __init__(
        self,
        learning_rate: Any,
        l1: float = 0.0,
        l2: float = 0.0,
        lr_power: float = -0.5,
        regularization: Regularizer = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        super().__init__(learning_rate, regularization, name, later, l1=l1, l2=l2, lr_power=lr_power)


class LambOptimizer(FluidOptimizer):
    """LAMB (`rules.lamb.Lamb`).

    A parameter for which ``exclude_from_weight_decay_fn`` is true has no weight decay; its ratio of norms stays.
    """

    rule_name = "lamb"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        regularization: Regularizer = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        name: str | None = None,
        **later: Unpack[Later],
    ) -> None:
        checked_function("lamb", "exclude_from_weight_decay_fn", exclude_from_weight_decay_fn)
        self.exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        hyper = {"lamb_weight_decay": lamb_weight_decay, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        super().__init__(learning_rate, regularization, name, later, **hyper)
        self._undecayed = self.rule.of(hyper | {"lamb_weight_decay": 0.0})

    def rule_for(self, parameter: ParameterLike) -> Rule:
        """The rule, without weight decay where the parameter is excluded."""
        exclude = self.exclude_from_weight_decay_fn
        return self._undecayed if exclude is not None and exclude(parameter) else self.rule


SGD = SGDOptimizer
Momentum = MomentumOptimizer
LarsMomentum = LarsMomentumOptimizer
Adagrad = AdagradOptimizer
DecayedAdagrad = DecayedAdagradOptimizer
Adadelta = AdadeltaOptimizer
Adam = AdamOptimizer
Adamax = AdamaxOptimizer
RMSProp = RMSPropOptimizer
Ftrl = FtrlOptimizer
Lamb = LambOptimizer
