"""Rules that are called Rprop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.books.torch.rprop import Rprop
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class RpropFamily(Rprop):
    """Rprop of torch.optim, with a choice at every place where implementations differ."""

    limited: str = axis(
        "changed",
        {
            "changed": "a step size that grows is at most the largest, one that shrinks at least the smallest",
            "every": "every step size lies between the smallest and the largest, the first included",
        },
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        old_size = np.where(t > 1, state.step_size, state.step_size + lr)
        product = state.prev * grad
        larger, smaller = old_size * self.etaplus, old_size * self.etaminus
        if self.limited == "changed":
            larger, smaller = np.minimum(larger, self.step_size_max), np.maximum(smaller, self.step_size_min)
        step_size = np.where(product > 0, larger, np.where(product < 0, smaller, old_size))
        if self.limited == "every":
            step_size = np.minimum(np.maximum(step_size, self.step_size_min), self.step_size_max)
        grad = np.where(product < 0, 0.0, grad)
        return param - step_size * np.sign(grad), State(prev=grad, step_size=step_size)


declare(
    Dialect(
        name="every_size_limited",
        family=RpropFamily,
        point={"limited": "every"},
        origin="torch.optim.Rprop, mindspore.nn.Rprop",
        reference="torch/optim/rprop.py, _single_tensor_rprop",
        difference="eta lies between step_size_min and step_size_max in every step",
    ),
    # The first learning rate lies above the largest step size, and below the smallest.
    settings=tuple(
        Setting({"etaminus": 0.5, "etaplus": 1.5, "step_size_min": smallest, "step_size_max": largest, "maximize": on})
        for on, smallest, largest in ((False, 0.01, 0.1), (True, 0.5, 2.0))
    ),
)
