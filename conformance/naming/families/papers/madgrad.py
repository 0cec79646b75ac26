"""Rules that are called MADGRAD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.madgrad import MADGRAD
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class MADGRADFamily(MADGRAD):
    """MADGRAD, with a choice of what its sums are weighted by."""

    rate: str = axis(
        "learning_rate",
        {
            "learning_rate": "k = lr*sqrt(t)",
            "with_epsilon": "k = (lr + eps)*sqrt(t)",
            "with_epsilon_unless_zero": "k = (lr + eps)*sqrt(t), 0 where lr is 0",
        },
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        weight = self._rate(lr) * t**0.5
        s = state.s + weight * grad
        nu = state.nu + weight * np.square(grad)
        z = state.x0 - s / (np.cbrt(nu) + self.epsilon)
        return (1 - self.c) * param + self.c * z, State(s=s, nu=nu, x0=state.x0)

    def _rate(self, lr: Any) -> Any:
        if self.rate == "learning_rate":
            return lr
        return lr + self.epsilon if self.rate == "with_epsilon" else np.where(lr == 0, 0.0, lr + self.epsilon)


dialect = dialects_of(MADGRADFamily)

declare(
    dialect(
        name="epsilon_in_the_rate",
        point={"rate": "with_epsilon"},
        origin="optax.contrib.madgrad, timm, torch-optimizer",
        reference="optax/contrib/_madgrad.py, scale_by_madgrad",
        difference="k = (lr + eps)*sqrt(t)",
    ),
    dialect(
        name="epsilon_in_the_rate_unless_zero",
        point={"rate": "with_epsilon_unless_zero"},
        origin="the code of the authors",
        reference="facebookresearch/madgrad, madgrad/madgrad.py, MADGRAD.step",
        difference="k = (lr + eps)*sqrt(t), 0 where lr is 0",
    ),
    settings=(
        Setting({"c": 0.3, "epsilon": 0.1}),
        Setting({"c": 0.3, "epsilon": 0.1}, rates=(0.3, 0.0, 0.07, 0.07)),
    ),
)
