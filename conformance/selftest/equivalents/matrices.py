"""Honest evaluations of the rules that tell rows and columns apart, none of them a copy of the reference's own.

For vectors all of Adafactor but `ByNorms` and `InFloat64` are the reference itself; so is `InFloat64` in float64, where
it is not tried.
"""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from optimetry.reference.books.papers.adafactor import Adafactor as Published
from optimetry.reference.books.torch.adafactor import Adafactor
from optimetry.reference.books.torch.muon import Muon
from optimetry.reference.norms import norm
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, Rule, State


def lerp(old: Array, new: Array, weight: float) -> Array:
    """Return an average as an increment, as torch.lerp forms it."""
    return old + weight * (new - old) if weight < 0.5 else new - (new - old) * (1 - weight)


class ByNorms(Adafactor):
    """Means as squared norms, averages as increments, the quotients of scalars first, as torch computes them."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update."""
        grad, new = -grad if self.maximize else grad, t**self.beta2_decay
        size = np.sqrt(np.sum(np.square(param))) / param.size**0.5
        step = max(self.eps2, float(size)) * min(lr, 1 / t**0.5)
        param = param * (1 - lr * self.weight_decay)
        if grad.ndim > 1:
            row_norm, col_norm = (np.sqrt(np.sum(np.square(grad), axis=axis, keepdims=True)) for axis in (-1, -2))
            row_var = lerp(state.row_var, np.square(row_norm) / grad.shape[-1], new)
            col_var = lerp(state.col_var, np.square(col_norm) / grad.shape[-2], new)
            state = State(row_var=row_var, col_var=col_var, variance=0.0)
            estimate = row_var * col_var / np.maximum(np.mean(row_var, axis=-2, keepdims=True), self.eps1)
        else:
            estimate = lerp(state.variance, np.square(grad), new)
            state = State(row_var=0.0, col_var=0.0, variance=estimate)
        update = 1 / np.maximum(np.sqrt(estimate), self.eps1) * grad
        length = np.sqrt(np.sum(np.square(update))) / (param.size**0.5 * self.d)
        return param + -step / max(1.0, float(length)) * update, state


class BySums(Adafactor):
    """Sums for means, as the algorithm is printed; the threshold of the factors grows with the number of elements."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update, of matrices alone."""
        if grad.ndim < 2:
            return super().update(param, grad, state, lr, t)
        grad, beta2 = -grad if self.maximize else grad, 1 - t**self.beta2_decay
        step = np.maximum(self.eps2, np.sqrt(np.sum(np.square(param)) / param.size)) * min(lr, 1 / t**0.5)
        rows, columns = grad.shape[-2:]
        row_var, col_var = (
            beta2 * old + (1 - beta2) * np.sum(np.square(grad), axis=axis, keepdims=True)
            for axis, old in ((-1, state.row_var), (-2, state.col_var))
        )
        total = np.maximum(np.sum(col_var, axis=-1, keepdims=True), self.eps1 * (rows * columns))
        update = grad / np.maximum(np.sqrt(row_var / total * col_var), self.eps1)
        length = np.sqrt(np.sum(np.square(update)) / grad.size) / self.d
        param = param - (step / np.maximum(1.0, length) * update + lr * self.weight_decay * param)
        return param, State(row_var=row_var, col_var=col_var, variance=0.0)


class Transposing(Rule):
    """Every matrix transposed, with the statistics of rows and of columns exchanged."""

    factors: ClassVar[tuple[str, str]]

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update of the transposed arrays."""
        if grad.ndim < 2:
            return super().update(param, grad, state, lr, t)
        turn = np.matrix_transpose
        param, new = super().update(turn(param), turn(grad), self._exchanged(state), lr, t)
        return turn(param), self._exchanged(new)

    def _exchanged(self, state: State) -> State:
        rows, columns = self.factors
        turned = {rows: np.matrix_transpose(state[columns]), columns: np.matrix_transpose(state[rows])}
        return State(**{**state, **turned})


class Transposed(Transposing, Adafactor):
    """Adafactor of torch, transposed."""

    factors = ("row_var", "col_var")


class ColumnsFirst(Transposing, Published):
    """Adafactor as published, transposed."""

    factors = ("rows", "columns")


class InFloat64(Adafactor):
    """Everything but what is kept in float64."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update, whose results are rounded once."""
        held = {slot: x if isinstance(x, float) else x.astype(np.float64) for slot, x in state.items()}
        new, after = super().update(param.astype(np.float64), grad.astype(np.float64), State(**held), lr, t)
        kept = {slot: x if isinstance(x, float) else x.astype(param.dtype) for slot, x in after.items()}
        return new.astype(param.dtype), State(**kept)


class AsPrinted(Published):
    """Sums for means, as the algorithm is printed, and the root of each factor."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update, of matrices alone."""
        if grad.ndim < 2:
            return super().update(param, grad, state, lr, t)
        squared, new = grad * grad + self.eps1, t**-self.c
        row, column = (
            lerp(old, np.sum(squared, axis=axis, keepdims=True), new)
            for axis, old in ((-1, state.rows), (-2, state.columns))
        )
        update = grad / (np.sqrt(row / np.sum(row, axis=-2, keepdims=True)) * np.sqrt(column))
        scale = np.maximum(self.eps2, np.sqrt(np.sum(np.square(param)) / param.size))
        length = np.sqrt(np.sum(np.square(update)) / grad.size)
        return param - lr * scale * self.d / np.maximum(self.d, length) * update, State(rows=row, columns=column, v=0.0)


class InBfloat16(Muon):
    """The iteration in bfloat16, as every implementation has it."""

    def orthogonalized(self, x: Array) -> Array:
        """Round the momentum, and what comes of it at every operation."""
        rounded = working(np.asarray(x).astype(ml_dtypes.bfloat16))
        return super().orthogonalized(rounded).astype(x.dtype)


class FromTheRight(Muon):
    """Products from the right, and no tall matrix transposed: its columns are about orthogonal, too."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """One update, which takes the decay off with the step."""
        rows, columns = param.shape
        buffer = state.momentum_buffer * self.momentum + grad
        step = self.orthogonalized(buffer * self.momentum + grad if self.nesterov else buffer)
        scale = 0.2 * max(rows, columns) ** 0.5 if self.match_rms_adamw else max(1, rows / columns) ** 0.5
        return param * (1 - lr * self.weight_decay) - lr * scale * step, State(momentum_buffer=buffer)

    def orthogonalized(self, x: Array) -> Array:
        """Multiply by the reciprocal of the norm, then by the transpose from the right."""
        x = x * (1 / (norm(x) + self.eps))
        for _ in range(self.ns_steps):
            cubed = x @ (np.matrix_transpose(x) @ x)
            x = self.a * x + (self.b * cubed + self.c * (cubed @ (np.matrix_transpose(x) @ x)))
        return x


HONEST_RULES: tuple[type[Rule], ...] = (
    ByNorms,
    BySums,
    Transposed,
    InFloat64,
    AsPrinted,
    ColumnsFirst,
    InBfloat16,
    FromTheRight,
)
"""Other evaluations of the rules that they are subclasses of."""
