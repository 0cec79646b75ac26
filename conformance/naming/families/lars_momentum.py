"""Rules that are called LARS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.lars_momentum import LarsMomentum


@dataclass(frozen=True, kw_only=True)
class LarsMomentumFamily(LarsMomentum):
    """LARS momentum, with a choice at every place where implementations differ; |x| is a norm over the tensor."""

    denominator: str = axis(
        "sum_of_norms",
        {
            "sum_of_norms": "|g| + wd*|w|",
            "norm_of_sum": "|g + wd*w|, which is also what the guard looks at",
            "sum_with_epsilon": "|g| + wd*|w| + eps",
        },
    )
    zero_norm: str = axis(
        "plain_rate", {"plain_rate": "the local rate is lr", "unguarded": "the division is carried out"}
    )
    zero_decay: str = axis("scaled_rate", {"scaled_rate": "no exception", "plain_rate": "wd = 0: the local rate is lr"})

    denominator_epsilon: ClassVar[float] = 1e-8  # not a documented hyperparameter: the default of apex's LARC

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        decayed = grad + self.lars_weight_decay * param
        param_norm = norm(param)
        grad_norm = norm(decayed) if self.denominator == "norm_of_sum" else norm(grad)
        denominator = grad_norm
        if self.denominator != "norm_of_sum":
            denominator = grad_norm + self.lars_weight_decay * param_norm
        if self.denominator == "sum_with_epsilon":
            denominator = denominator + self.denominator_epsilon

        local_lr = lr * self.lars_coeff * param_norm / denominator
        if self.zero_norm == "plain_rate":
            local_lr = np.where((param_norm > 0) & (grad_norm > 0), local_lr, lr)
        if self.zero_decay == "plain_rate":
            local_lr = np.where(self.lars_weight_decay > 0, local_lr, lr)

        velocity = self.momentum * state.velocity + local_lr * decayed
        return param - velocity, State(velocity=velocity)


declare(
    Dialect(
        name="norm_of_sum",
        family=LarsMomentumFamily,
        point={"denominator": "norm_of_sum"},
        origin="optax.lars",
        reference="optax/_src/alias.py, lars; optax/_src/transform.py, scale_by_trust_ratio",
        difference="llr = lr*coeff*|w| / |g + wd*w|",
    ),
    Dialect(
        name="denominator_epsilon",
        family=LarsMomentumFamily,
        point={"denominator": "sum_with_epsilon"},
        origin="LARC of NVIDIA apex; LarsMomentumOptimizer of later PaddlePaddle with epsilon > 0",
        reference="apex/parallel/LARC.py",
        difference="llr = lr*coeff*|w| / (|g| + wd*|w| + 1e-8)",
    ),
    Dialect(
        name="zero_decay_plain_rate",
        family=LarsMomentumFamily,
        point={"zero_decay": "plain_rate"},
        origin="PaddlePaddle 3.3",
        reference="Paddle 3.3, the CPU kernel behind paddle._C_ops.lars_momentum_",
        difference="llr = lr if wd == 0",
    ),
    Dialect(
        name="unguarded",
        family=LarsMomentumFamily,
        point={"zero_norm": "unguarded"},
        origin="the equation as published: a zero tensor never moves",
        reference="You, Gitman & Ginsburg (2017), algorithm 1",
        difference="llr = lr*coeff*|w| / (|g| + wd*|w|), also where a norm is 0",
    ),
    settings=tuple(
        Setting({"momentum": 0.7, "lars_coeff": 0.1, "lars_weight_decay": decay}, sizes=(-8, 1), grads=(-9, 1), pool=60)
        for decay in (0.3, 0.0)
    ),
)
