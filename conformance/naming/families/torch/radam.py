"""Rules that are called RAdam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.conformance.naming.families.torch.adam import decayed
from optimetry.reference.books.torch.radam import RAdam
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class RAdamFamily(RAdam):
    """RAdam of torch.optim, with a choice at every place where implementations differ; c2 is 1 - b2^t."""

    threshold: str = axis("5", {"5": "rectified where rho > 5", "4": "rectified where rho > 4"})
    below: str = axis("momentum", {"momentum": "w -= lr*m/c1 where it is not", "nothing": "w stays where it is not"})
    epsilon_placement: str = axis(
        "uncorrected", {"uncorrected": "sqrt(c2) / (sqrt(v) + eps)", "corrected": "1 / (sqrt(v/c2) + eps)"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        param, grad = decayed(self, param, grad, lr)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)

        correction, threshold = 1 - self.beta2**t, float(self.threshold)
        longest = 2 / (1 - self.beta2) - 1
        length = longest - 2 * t * self.beta2**t / correction
        inf, rho = np.maximum(longest, 5.0), np.maximum(length, threshold)  # where they are less, it is not used
        excess = np.maximum(length - 4, 0.0)  # rho - 4, which no rounding makes negative
        rectification = np.sqrt(excess * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
        if self.epsilon_placement == "uncorrected":
            adaptive = rectification * np.sqrt(correction) / (np.sqrt(exp_avg_sq) + self.eps)
        else:
            adaptive = rectification / (np.sqrt(exp_avg_sq / correction) + self.eps)
        stepped = param - lr * exp_avg / (1 - self.beta1**t) * np.where(length > threshold, adaptive, 1.0)
        if self.below == "nothing":
            stepped = np.where(length > threshold, stepped, param)
        return stepped, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)


dialect = dialects_of(RAdamFamily)

declare(
    dialect(
        name="threshold_of_the_paper",
        point={"threshold": "4"},
        origin="RAdam as published",
        reference="Liu et al. (2020), algorithm 2",
        difference="rectified where rho > 4",
    ),
    dialect(
        name="no_step_without_rectification",
        point={"below": "nothing"},
        origin="the authors' RAdam(degenerated_to_sgd=False)",
        reference="LiyuanLucasLiu/RAdam, radam/radam.py",
        difference="w stays where rho <= 5",
    ),
    dialect(
        name="corrected_epsilon",
        point={"epsilon_placement": "corrected"},
        origin="optax.radam",
        reference="optax/_src/transform.py, scale_by_radam",
        difference="w -= lr*(m/c1) * r / (sqrt(v/c2) + eps)",
    ),
    settings=tuple(
        Setting(
            {"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.5}
            | dict.fromkeys(("decoupled_weight_decay", "maximize"), on),
            rates=(0.3, 0.3, 0.07, 0.07, 0.07, 0.3, 0.3),
        )
        for on in (False, True)
    ),
)
