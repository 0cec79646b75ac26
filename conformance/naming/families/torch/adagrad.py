"""Rules that are called Adagrad, and have torch's hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.reference.books.torch.adagrad import Adagrad
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdagradFamily(Adagrad):
    """Adagrad of torch.optim, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis("outside", {"outside": "sqrt(s) + eps", "inside": "sqrt(s + eps)"})
    rate_count: str = axis("t-1", {"t-1": "lr / (1 + (t-1)*eta)", "t": "lr / (1 + t*eta)"})
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        rate = lr / (1 + (t - 1 if self.rate_count == "t-1" else t) * self.lr_decay)
        summed = state.sum + np.square(grad)
        outside = self.epsilon_placement == "outside"
        root = np.sqrt(summed) + self.eps if outside else np.sqrt(summed + self.eps)
        return param - rate * grad / root, State(sum=summed)


declare(
    Dialect(
        name="epsilon_inside",
        family=AdagradFamily,
        point={"epsilon_placement": "inside"},
        origin="optax.adagrad, keras.optimizers.Adagrad",
        reference="optax/_src/transform.py, scale_by_rss; keras/src/optimizers/adagrad.py",
        difference="w -= lr*g / sqrt(s + eps)",
    ),
    Dialect(
        name="rate_of_the_next_step",
        family=AdagradFamily,
        point={"rate_count": "t"},
        origin="a count that is advanced before its use; no release known",
        reference="torch.optim.Adagrad (docstring), where t - 1 is counted",
        difference="lr_t = lr / (1 + t*eta)",
    ),
    settings=(Setting({"lr_decay": 0.5, "weight_decay": 0.5, "initial_accumulator_value": 0.1, "eps": 0.1}),),
)
