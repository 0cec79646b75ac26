"""Rules that are called Adafactor, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.conformance.naming.families.torch.adafactor import dimensions
from optimetry.reference.books.papers.adafactor import Adafactor
from optimetry.reference.norms import rms
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdafactorFamily(Adafactor):
    """Adafactor, with a choice of what rows and columns are of a tensor of more than two dimensions."""

    factored: str = axis("last", {"last": "the last two dimensions", "largest": "the two with most elements"})
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        beta = 1 - t**-self.c
        squared = np.square(grad) + self.eps1
        rows, columns, v = state.rows, state.columns, state.v
        if grad.ndim > 1:
            along_row, along_column = dimensions(grad.shape, self.factored)
            rows = beta * rows + (1 - beta) * np.mean(squared, axis=along_row, keepdims=True)
            columns = beta * columns + (1 - beta) * np.mean(squared, axis=along_column, keepdims=True)
            estimate = rows / np.mean(rows, axis=along_column, keepdims=True) * columns
        else:
            estimate = v = beta * v + (1 - beta) * squared
        update = grad / np.sqrt(estimate)
        step = np.maximum(self.eps2, rms(param)) * lr * update / np.maximum(1.0, rms(update) / self.d)
        return param - step, State(rows=rows, columns=columns, v=v)


dialect = dialects_of(AdafactorFamily)

declare(
    dialect(
        name="largest_dimensions",
        point={"factored": "largest"},
        origin="optax.adafactor, and Adafactor of flax.optim",
        reference="optax/_src/factorized.py, scale_by_factored_rms",
        difference="R and C are means along the two largest dimensions",
    ),
    settings=(
        Setting(
            {"c": 0.5, "eps1": 0.01, "eps2": 0.1, "d": 1.25},
            shapes=((3, 2, 2), (2, 3, 2), (2, 2, 3)),
            pool=40,
        ),
    ),
)
