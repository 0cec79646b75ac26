"""Rules that are called Adamax, and have torch's hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.reference.books.torch.adamax import Adamax
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdamaxFamily(Adamax):
    """Adamax of torch.optim, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis(
        "gradient",
        {
            "gradient": "u = max(b2*u, |g| + eps)",
            "decayed_norm": "u = max(b2*u + eps, |g|)",
            "denominator": "u = max(b2*u, |g|), and m/(u + eps)",
        },
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        decayed, size = self.beta2 * state.exp_inf, np.abs(grad)
        if self.epsilon_placement == "gradient":
            size = size + self.eps
        elif self.epsilon_placement == "decayed_norm":
            decayed = decayed + self.eps
        exp_inf = np.maximum(decayed, size)
        divisor = exp_inf + self.eps if self.epsilon_placement == "denominator" else exp_inf
        return param - lr * exp_avg / ((1 - self.beta1**t) * divisor), State(exp_avg=exp_avg, exp_inf=exp_inf)


declare(
    Dialect(
        name="epsilon_on_decayed_norm",
        family=AdamaxFamily,
        point={"epsilon_placement": "decayed_norm"},
        origin="fluid.optimizer.AdamaxOptimizer, paddle.optimizer.Adamax",
        reference="Paddle 3.3, paddle/phi/kernels/impl/adamax_kernel_impl.h",
        difference="u = max(b2*u + eps, |g|)",
    ),
    Dialect(
        name="epsilon_in_denominator",
        family=AdamaxFamily,
        point={"epsilon_placement": "denominator"},
        origin="keras.optimizers.Adamax",
        reference="keras/src/optimizers/adamax.py",
        difference="u = max(b2*u, |g|); w -= lr/(1-b1^t) * m/(u + eps)",
    ),
    settings=tuple(
        Setting({"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.5, "maximize": maximize})
        for maximize in (False, True)
    ),
)
