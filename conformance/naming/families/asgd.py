"""Rules that are called ASGD and are stochastic average gradient.

Left out: torch.optim.ASGD, which is Polyak averaging of plain SGD under a learning-rate schedule of its own. It shares
the name and nothing else, so it is no point of this family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.asgd import ASGD


@dataclass(frozen=True, kw_only=True)
class ASGDFamily(ASGD):
    """Stochastic average gradient, with a choice where implementations differ. For one batch all choices agree."""

    decay_placement: str = axis(
        "step",
        {"step": "added to the mean of the gradients", "history": "added to the gradient, so remembered in y_i"},
    )

    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        remembered = grad if self.decay_placement == "step" else grad + self.weight_decay * param
        batch = (t - 1) % self.batch_num
        d = state.d + (remembered - state.history[batch])
        this_batch = (np.arange(self.batch_num) == batch).reshape((-1,) + (1,) * param.ndim)
        history = np.where(this_batch, remembered, state.history)
        if self.decay_placement == "step":
            param = param - lr * self.weight_decay * param
        return param - lr * (d / min(t, self.batch_num)), State(d=d, history=history)


declare(
    Dialect(
        name="decay_in_history",
        family=ASGDFamily,
        point={"decay_placement": "history"},
        origin="PaddlePaddle 3.3, where batch_num > 1",
        reference="Paddle 3.3, python/paddle/optimizer/asgd.py",
        difference="d += (g + lam*w) - y_i; y_i = g + lam*w; w -= lr*d/min(m+1, n)",
    ),
    settings=(Setting({"batch_num": 2, "weight_decay": 0.3}),),
)
