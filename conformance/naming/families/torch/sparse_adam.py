"""Rules that are called Adam, and leave alone what has no gradient, or one of zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare, step_count
from optimetry.conformance.naming.families.torch.adam import UNCORRECTED_EPSILON
from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.books.torch.sparse_adam import SparseAdam
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class SparseAdamFamily(SparseAdam):
    """SparseAdam of torch.optim, with a choice where implementations differ; c1 and c2 are the bias corrections."""

    epsilon_placement: str = axis(
        "corrected", {"corrected": "sqrt(v/c2) + eps", "uncorrected": "(sqrt(v) + eps) / sqrt(c2)"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad, given = directed(grad, self.maximize), grad != 0
        exp_avg = np.where(given, self.beta1 * state.exp_avg + (1 - self.beta1) * grad, state.exp_avg)
        exp_avg_sq = np.where(
            given, self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad), state.exp_avg_sq
        )
        correction2 = 1 - self.beta2**t
        epsilon = self.eps if self.epsilon_placement == "corrected" else self.eps / np.sqrt(correction2)
        root = np.sqrt(exp_avg_sq / correction2) + epsilon
        moved = param - lr * (exp_avg / (1 - self.beta1**t)) / root
        return np.where(given, moved, param), State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)


declare(
    Dialect(
        name="uncorrected_epsilon",
        family=SparseAdamFamily,
        point={"epsilon_placement": "uncorrected"},
        origin="torch.optim.SparseAdam itself",
        reference="torch/optim/_functional.py, sparse_adam; Kingma & Ba (2015), before section 2.1",
        difference=f"where g is not 0: {UNCORRECTED_EPSILON}",
    ),
    settings=tuple(Setting({"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "maximize": on}) for on in (False, True)),
)
