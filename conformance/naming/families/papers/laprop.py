"""Rules that are called LaProp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.laprop import LaProp
from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class LaPropFamily(LaProp):
    """LaProp, with a choice of where the learning rate stands."""

    rate_placement: str = axis(
        "outside",
        {
            "outside": "m = mu*m + (1-mu)*g/d; w -= lr*m / (1-mu^t)",
            "averaged": "m = mu*m + (1-mu)*lr*g/d; r = mu*r + (1-mu)*lr; w -= lr*m/r, or m where r is 0",
        },
    )
    step_count: str = step_count()

    slots = ("n", "m", "rate")  # type: ignore[assignment]  # mypy infers as many as LaProp has

    def initial_state(self, param: Array) -> State:
        return State(**{**super().initial_state(param), "rate": 0.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        n = self.nu * state.n + (1 - self.nu) * np.square(grad)
        normalized = grad / (np.sqrt(n / (1 - self.nu**t)) + self.epsilon)
        rate = self.mu * state.rate + (1 - self.mu) * lr
        if self.rate_placement == "outside":
            m = self.mu * state.m + (1 - self.mu) * normalized
            return param - lr * m / (1 - self.mu**t), State(n=n, m=m, rate=rate)
        m = self.mu * state.m + (1 - self.mu) * lr * normalized
        return param - quotient(lr, rate) * m, State(n=n, m=m, rate=rate)


dialect = dialects_of(LaPropFamily)

declare(
    dialect(
        name="averaged_rate",
        point={"rate_placement": "averaged"},
        origin="the code of the authors, timm's LaProp",
        reference="Z-T-WANG/LaProp-Optimizer, laprop.py, LaProp.step",
        difference="m = mu*m + (1-mu)*lr*g/d; r = mu*r + (1-mu)*lr; w -= lr*m/r",
    ),
    settings=(Setting({"mu": 0.7, "nu": 0.9, "epsilon": 0.1}),),
)
