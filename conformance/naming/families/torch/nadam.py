"""Rules that are called NAdam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.conformance.naming.families.torch.adam import decayed
from optimetry.reference.books.torch.nadam import NAdam
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class NAdamFamily(NAdam):
    """NAdam of torch.optim, with a choice at every place where implementations differ; c2 is 1 - b2^t."""

    epsilon_placement: str = axis(
        "corrected", {"corrected": "sqrt(v/c2) + eps", "uncorrected": "(sqrt(v) + eps) / sqrt(c2)"}
    )
    schedule: str = axis(
        "documented", {"documented": "mu_t = b1*(1 - 0.96^(t*psi)/2)", "none": "mu_t = b1, whatever psi"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        param, grad = decayed(self, param, grad, lr)
        mu, next_mu = self.mu(t), self.mu(t + 1)
        mu_product = state.mu_product * mu
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)
        ahead = next_mu * exp_avg / (1 - mu_product * next_mu) + (1 - mu) * grad / (1 - mu_product)
        correction2 = 1 - self.beta2**t
        eps = self.eps if self.epsilon_placement == "corrected" else self.eps / np.sqrt(correction2)
        param = param - lr * ahead / (np.sqrt(exp_avg_sq / correction2) + eps)
        return param, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, mu_product=mu_product)

    def mu(self, t: int) -> Any:
        return super().mu(t) if self.schedule == "documented" else self.beta1


declare(
    Dialect(
        name="uncorrected_epsilon",
        family=NAdamFamily,
        point={"epsilon_placement": "uncorrected"},
        origin="the epsilon of tf.train.AdamOptimizer; no release known",
        reference="Kingma & Ba (2015), before section 2.1",
        difference="w -= lr*sqrt(c2)*ahead / (sqrt(v) + eps)",
    ),
    Dialect(
        name="constant_momentum",
        family=NAdamFamily,
        point={"schedule": "none"},
        origin="optax.nadam",
        reference="Dozat (2016), algorithm 2; optax/_src/transform.py, scale_by_adam with nesterov=True",
        difference="mu_t = b1",
    ),
    settings=tuple(
        Setting(
            {"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.5, "momentum_decay": 1.0}
            | dict.fromkeys(("decoupled_weight_decay", "maximize"), on)
        )
        for on in (False, True)
    ),
)
