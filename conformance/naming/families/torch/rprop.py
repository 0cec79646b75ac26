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
            "both_ways": "a step size that changes lies between the smallest and the largest",
            "every": "every step size lies between the smallest and the largest, the first included",
        },
    )
    crossed: str = axis(
        "largest",
        {
            "largest": "a size between limits that cross is the largest",
            "smallest": "a size between limits that cross is the smallest",
        },
    )
    applied: str = axis(
        "now", {"now": "w -= eta*sign(g)", "late": "w -= eta_old*sign(p), the step before, and no step if p*g < 0"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        old_size = np.where(t > 1, state.step_size, state.step_size + lr)
        product = state.prev * grad
        larger, smaller = old_size * self.etaplus, old_size * self.etaminus
        if self.limited == "changed":
            larger, smaller = np.minimum(larger, self.step_size_max), np.maximum(smaller, self.step_size_min)
        elif self.limited == "both_ways":
            larger, smaller = self._between(larger), self._between(smaller)
        step_size = np.where(product > 0, larger, np.where(product < 0, smaller, old_size))
        if self.limited == "every":
            step_size = self._between(step_size)
        grad = np.where(product < 0, 0.0, grad)
        if self.applied == "now":
            step = step_size * np.sign(grad)
        else:
            step = np.where(product < 0, 0.0, state.step_size * np.sign(state.prev))
        return param - step, State(prev=grad, step_size=step_size)

    def _between(self, step_size: Array) -> Array:
        if self.crossed == "smallest":
            return np.maximum(np.minimum(step_size, self.step_size_max), self.step_size_min)
        return np.minimum(np.maximum(step_size, self.step_size_min), self.step_size_max)


declare(
    Dialect(
        name="every_size_limited",
        family=RpropFamily,
        point={"limited": "every"},
        origin="torch.optim.Rprop, mindspore.nn.Rprop",
        reference="torch/optim/rprop.py, _single_tensor_rprop",
        difference="eta lies between step_size_min and step_size_max in every step",
    ),
    Dialect(
        name="every_size_limited_smallest_wins",
        family=RpropFamily,
        point={"limited": "every", "crossed": "smallest"},
        origin="optim.rprop of Torch7",
        reference="torch/optim, rprop.lua",
        difference="eta lies between step_size_min and step_size_max in every step, and is step_size_min where these "
        "cross",
    ),
    Dialect(
        name="applied_late",
        family=RpropFamily,
        point={"applied": "late", "limited": "both_ways"},
        origin="optax.rprop",
        reference="optax/_src/transform.py, scale_by_rprop",
        difference="w -= eta_old*sign(p), which was due before, and no step if p*g < 0; an eta that changes lies "
        "between both limits",
    ),
    # The first learning rate lies above the largest step size, and below the smallest; the last limits cross.
    settings=tuple(
        Setting({"etaminus": 0.5, "etaplus": 1.5, "step_size_min": smallest, "step_size_max": largest, "maximize": on})
        for on, smallest, largest in ((False, 0.01, 0.1), (True, 0.5, 2.0), (False, 0.5, 0.1))
    ),
)
