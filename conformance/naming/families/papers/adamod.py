"""Rules that are called AdaMod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.adamod import AdaMod
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdaModFamily(AdaMod):
    """AdaMod, with a choice of what is corrected."""

    correction: str = axis(
        "moment",
        {
            "moment": "w -= min(r, s) * m/(1-b1^t), where s averages r",
            "rate": "w -= min(r, s) * m, where s averages r = r/(1-b1^t)",
        },
    )
    epsilon_placement: str = axis(
        "corrected",
        {"corrected": "r = lr / (sqrt(v/(1-b2^t)) + eps)", "uncorrected": "r = lr*sqrt(1-b2^t) / (sqrt(v) + eps)"},
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        correction1, correction2 = 1 - self.beta1**t, 1 - self.beta2**t
        if self.epsilon_placement == "corrected":
            rate = lr / (np.sqrt(v / correction2) + self.epsilon)
        else:
            rate = lr * np.sqrt(correction2) / (np.sqrt(v) + self.epsilon)
        if self.correction == "rate":
            rate, correction1 = rate / correction1, 1.0
        s = self.beta3 * state.s + (1 - self.beta3) * rate
        return param - np.minimum(rate, s) * (m / correction1), State(m=m, v=v, s=s)


dialect = dialects_of(AdaModFamily)

declare(
    dialect(
        name="corrected_rates",
        point={"correction": "rate", "epsilon_placement": "uncorrected"},
        origin="the code of the authors, torch-optimizer",
        reference="lancopku/AdaMod, adamod/adamod.py, AdaMod.step",
        difference="s averages r = lr*sqrt(1-b2^t)/(1-b1^t) / (sqrt(v) + eps); w -= min(r, s) * m",
    ),
    settings=(Setting({"beta1": 0.7, "beta2": 0.9, "beta3": 0.6, "epsilon": 0.1}, grads=(-1.5, 1.0)),),
)
