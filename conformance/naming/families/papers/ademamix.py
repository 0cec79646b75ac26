"""Rules that are called AdEMAMix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.ademamix import AdEMAMix
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdEMAMixFamily(AdEMAMix):
    """AdEMAMix, with a choice of what decays."""

    decay: str = axis(
        "parameter", {"parameter": "w -= lr*(step + wd*w)", "gradient": "g + wd*w in place of g; w -= lr*step"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if self.decay == "gradient":
            grad = grad + self.weight_decay * param
        m1 = self.beta1 * state.m1 + (1 - self.beta1) * grad
        m2 = self.beta3 * state.m2 + (1 - self.beta3) * grad
        nu = self.beta2 * state.nu + (1 - self.beta2) * np.square(grad)
        corrected1, corrected2 = m1 / (1 - self.beta1**t), nu / (1 - self.beta2**t)
        step = (corrected1 + self.alpha * m2) / (np.sqrt(corrected2) + self.epsilon)
        if self.decay == "parameter":
            step = step + self.weight_decay * param
        return param - lr * step, State(m1=m1, m2=m2, nu=nu)


dialect = dialects_of(AdEMAMixFamily)

declare(
    dialect(
        name="decay_in_the_gradient",
        point={"decay": "gradient"},
        origin="pylocron's AdEMAMix, pytorch-optimizer's unless it is told otherwise",
        reference="holocron/optim/ademamix.py, ademamix",
        difference="g + wd*w in place of g, and w is not decayed",
    ),
    settings=(
        Setting(
            {"beta1": 0.7, "beta2": 0.9, "beta3": 0.8, "alpha": 2.0, "epsilon": 0.1, "weight_decay": 0.5},
        ),
    ),
)
