"""Rules that are called Adamax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adamax import Adamax


@dataclass(frozen=True, kw_only=True)
class AdamaxFamily(Adamax):
    """Adamax, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis(
        "decayed_norm",
        {
            "decayed_norm": "u = max(b2*u + eps, |g|)",
            "gradient": "u = max(b2*u, |g| + eps)",
            "denominator": "u = max(b2*u, |g|), and m/(u + eps)",
            "none": "u = max(b2*u, |g|): 0/0 before the first gradient",
        },
    )
    bias_correction: str = axis("documented", {"documented": "lr/(1 - b1^t)", "none": "lr"})
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = self.beta1 * state.moment + (1 - self.beta1) * grad
        decayed, size = self.beta2 * state.inf_norm, np.abs(grad)
        if self.epsilon_placement == "decayed_norm":
            inf_norm = np.maximum(decayed + self.epsilon, size)
        elif self.epsilon_placement == "gradient":
            inf_norm = np.maximum(decayed, size + self.epsilon)
        else:
            inf_norm = np.maximum(decayed, size)
        denominator = inf_norm + self.epsilon if self.epsilon_placement == "denominator" else inf_norm
        lr_t = lr if self.bias_correction == "none" else lr / (1 - self.beta1**t)
        return param - lr_t * (moment / denominator), State(moment=moment, inf_norm=inf_norm)


dialect = dialects_of(AdamaxFamily)

declare(
    dialect(
        name="epsilon_on_gradient",
        point={"epsilon_placement": "gradient"},
        origin="torch.optim.Adamax, optax.adamax",
        reference="torch/optim/adamax.py; optax/_src/transform.py, scale_by_adamax",
        difference="u = max(b2*u, |g| + eps)",
    ),
    dialect(
        name="epsilon_in_denominator",
        point={"epsilon_placement": "denominator"},
        origin="keras.optimizers.Adamax",
        reference="keras/src/optimizers/adamax.py",
        difference="u = max(b2*u, |g|); w -= lr/(1-b1^t) * m/(u + eps)",
    ),
    dialect(
        name="no_epsilon",
        point={"epsilon_placement": "none"},
        origin="Adamax as published",
        reference="Kingma & Ba (2015), algorithm 2",
        difference="u = max(b2*u, |g|)",
    ),
    dialect(
        name="uncorrected",
        point={"bias_correction": "none"},
        origin="a lost factor; no release known",
        reference="Kingma & Ba (2015), algorithm 2, for the factor it departs from",
        difference="w -= lr * m/u",
    ),
    dialect(
        name="uncorrected_epsilon_in_denominator",
        point={"epsilon_placement": "denominator", "bias_correction": "none"},
        origin="mlx.optimizers.Adamax",
        reference="mlx 0.32.4, mlx/optimizers/optimizers.py, Adamax.apply_single",
        difference="u = max(b2*u, |g|); w -= lr * m/(u + eps)",
    ),
    settings=(Setting({"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}),),
)
