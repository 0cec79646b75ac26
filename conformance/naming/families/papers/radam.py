"""Rules that are called RAdam, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.books.papers.radam import RAdam
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class RAdamFamily(RAdam):
    """RAdam, with a choice at every place where implementations differ; c1 is 1 - b1^t and c2 is 1 - b2^t."""

    threshold: str = axis("4", {"4": "rectified where rho > 4", "5": "rectified where rho > 5"})
    denominator: str = axis(
        "root",
        {
            "root": "sqrt(v/c2), and no step where that is 0",
            "unguarded": "sqrt(v/c2), and 0/0 where that is 0",
            "epsilon": "sqrt(v/c2) + 1e-8",
        },
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        correction, threshold = 1 - self.beta2**t, float(self.threshold)
        longest = 2 / (1 - self.beta2) - 1
        length = longest - 2 * t * self.beta2**t / correction
        inf, rho = np.maximum(longest, threshold), np.maximum(length, threshold)  # where they are less, it is not used
        excess = np.maximum(length - 4, 0.0)  # rho - 4, which no rounding makes negative
        rectification = np.sqrt(quotient(excess * (rho - 2) * inf, (inf - 4) * (inf - 2) * rho))
        factor = np.where(length > threshold, rectification * self._reciprocal(v, correction), 1.0)
        return param - lr * m / (1 - self.beta1**t) * factor, State(m=m, v=v)

    def _reciprocal(self, v: Array, correction: Any) -> Array:
        """Return what a rectified step is multiplied by: 1 / sqrt(v/c2)."""
        if self.denominator == "root":
            return np.sqrt(quotient(correction, v))
        return np.sqrt(correction / v) if self.denominator == "unguarded" else 1 / (np.sqrt(v / correction) + 1e-8)


dialect = dialects_of(RAdamFamily)

declare(
    dialect(
        name="unguarded",
        point={"denominator": "unguarded"},
        origin="pytorch-optimizer's RAdam with an epsilon of 0, which the publication does not have",
        reference="pytorch_optimizer/optimizer/radam.py, RAdam.step",
        difference="m/sqrt(v/c2) is carried out where v = 0, which gives 0/0",
    ),
    dialect(
        name="larger_threshold_unguarded",
        point={"threshold": "5", "denominator": "unguarded"},
        origin="timm's RAdamLegacy with an epsilon of 0",
        reference="timm/optim/radam.py, RAdamLegacy.step",
        difference="rectified where rho > 5; m/sqrt(v/c2) is carried out where v = 0, which gives 0/0",
    ),
    dialect(
        name="epsilon",
        point={"denominator": "epsilon"},
        origin="optax.radam with the threshold of the publication",
        reference="optax/_src/transform.py, scale_by_radam",
        difference="sqrt(v/c2) + 1e-8 for sqrt(v/c2)",
    ),
    # The epsilon shows with small gradients.
    settings=tuple(
        Setting({"beta1": 0.7, "beta2": 0.9}, rates=(0.3, 0.3, 0.07, 0.07, 0.07, 0.3, 0.3), grads=grads)
        for grads in ((-9.0, -6.0), (-2.0, 1.0))
    ),
)
