"""Rules that are called Adan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.reference.books.papers.adan import Adan
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdanFamily(Adan):
    """Adan, with a choice of how its averages begin."""

    averages: str = axis(
        "begun",
        {
            "begun": "m = g, v = 0 and n = g^2 in the first step, v = g - g' in the second",
            "corrected": "m, v and n begin at 0, and each is divided by 1 - (1 - its weight)^t",
        },
    )
    step_count: str = step_count()

    slots = ("m", "v", "n", "previous", "begun")  # type: ignore[assignment]  # mypy infers as many as Adan has

    def initial_state(self, param: Array) -> State:
        return State(**{**super().initial_state(param), "begun": 0.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        corrected, change = self.averages == "corrected", grad - state.previous
        if corrected:
            change = np.where(state.begun == 0, 0.0, change)
        if t == 1 and not corrected:
            m, v, n = grad, state.v, np.square(grad)
        else:
            m = (1 - self.beta1) * state.m + self.beta1 * grad
            v = (1 - self.beta2) * state.v + self.beta2 * change if corrected or t > 2 else change
            n = (1 - self.beta3) * state.n + self.beta3 * np.square(grad + (1 - self.beta2) * change)
        new = State(m=m, v=v, n=n, previous=grad, begun=1.0)
        if corrected:
            weighted = ((m, self.beta1), (v, self.beta2), (n, self.beta3))
            m, v, n = (average / (1 - (1 - weight) ** t) for average, weight in weighted)
        step = lr * (m + (1 - self.beta2) * v) / (np.sqrt(n) + self.epsilon)
        return (param - step) / (1 + self.weight_decay * lr), new


declare(
    Dialect(
        name="corrected",
        family=AdanFamily,
        point={"averages": "corrected"},
        origin="the code of the authors, and what is ported from it",
        reference="sail-sg/Adan, adan.py, _single_tensor_adan",
        difference="m/(1 - (1-b1)^t), v/(1 - (1-b2)^t) and n/(1 - (1-b3)^t), which begin at 0",
    ),
    settings=(Setting({"beta1": 0.3, "beta2": 0.4, "beta3": 0.2, "epsilon": 0.1, "weight_decay": 0.5}),),
)
