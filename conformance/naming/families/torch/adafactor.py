"""Rules that are called Adafactor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.torch.adafactor import Adafactor
from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.norms import rms
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdafactorFamily(Adafactor):
    """Adafactor, with a choice at every place where implementations differ."""

    epsilon: str = axis("divisors", {"divisors": "max(sqrt(V), eps1)", "squares": "g^2 + eps1, as published"})
    rate: str = axis("smaller", {"smaller": "min(lr, 1/sqrt(t))", "given": "lr"})
    scaled_by: str = axis(
        "before",
        {
            "before": "RMS(w) before the decay",
            "decayed": "RMS(w) after it",
            "nothing": "no factor max(eps2, RMS(w)) in alpha",
            "eps2": "the factor eps2 in alpha, whatever RMS(w) is",
        },
        rare=("nothing", "eps2"),
    )
    decay: str = axis(
        "with_lr",
        {
            "with_lr": "w loses lr*lambda*w",
            "scaled": "w loses alpha*lambda*w",
            "without_lr": "w loses lambda*w",
        },
        rare=("scaled", "without_lr"),
    )
    factored: str = axis(
        "last",
        {
            "last": "the last two dimensions",
            "largest": "the two with most elements",
            "first": "the first two dimensions",
        },
        rare=("first",),
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad, beta2 = directed(grad, self.maximize), 1 - t**self.beta2_decay
        rate = np.minimum(lr, 1 / t**0.5) if self.rate == "smaller" else lr
        decayed = param - self.decay_rate(rate, param, lr) * self.weight_decay * param
        scale = self.scaled(rate, decayed if self.scaled_by == "decayed" else param)
        squared = np.square(grad) + self.eps1 if self.epsilon == "squares" else np.square(grad)
        row_var, col_var, variance = state.row_var, state.col_var, state.variance
        if grad.ndim > 1:
            along_row, along_column = dimensions(grad.shape, self.factored)
            row_var = beta2 * row_var + (1 - beta2) * np.mean(squared, axis=along_row, keepdims=True)
            col_var = beta2 * col_var + (1 - beta2) * np.mean(squared, axis=along_column, keepdims=True)
            estimate = row_var * col_var / self.at_least(np.mean(row_var, axis=along_column, keepdims=True))
        else:
            estimate = variance = beta2 * variance + (1 - beta2) * squared
        update = grad / self.at_least(np.sqrt(estimate))
        decayed = decayed - scale * update / np.maximum(1.0, rms(update) / self.d)
        return decayed, State(row_var=row_var, col_var=col_var, variance=variance)

    def scaled(self, rate: Any, param: Array) -> Any:
        """Return alpha: the rate, times the size of the parameter."""
        if self.scaled_by == "nothing":
            return rate
        return (self.eps2 if self.scaled_by == "eps2" else np.maximum(self.eps2, rms(param))) * rate

    def decay_rate(self, rate: Any, param: Array, lr: Any) -> Any:
        """Return what the decay is multiplied by."""
        if self.decay == "scaled":
            return self.scaled(rate, param)
        return lr if self.decay == "with_lr" else 1.0

    def at_least(self, divisor: Array) -> Array:
        """Return a divisor, or epsilon where that is larger and has not been added before."""
        return np.maximum(divisor, self.eps1) if self.epsilon == "divisors" else divisor


def dimensions(shape: tuple[int, ...], factored: str) -> tuple[int, int]:
    """Return the dimensions that rows and columns run along, counted from the last."""
    if factored != "largest":
        return (-1, -2) if factored == "last" else (1 - len(shape), -len(shape))
    *_, next_largest, largest = sorted(range(-len(shape), 0), key=lambda i: shape[i])
    return largest, next_largest


dialect = dialects_of(AdafactorFamily)

declare(
    dialect(
        name="epsilon_on_squares",
        point={"epsilon": "squares"},
        origin="Adafactor as published",
        reference="Shazeer & Stern, 2018, algorithm 4",
        difference="R and C are of g^2 + eps1, and nothing is divided by less than it happens to be",
    ),
    dialect(
        name="epsilon_on_squares_scaled_by_decayed",
        point={"epsilon": "squares", "scaled_by": "decayed"},
        origin="keras.optimizers.Adafactor",
        reference="keras/src/optimizers/adafactor.py, update_step, which the decay of base_optimizer.py comes before",
        difference="R and C are of g^2 + eps1; RMS(w) is that of the decayed parameter",
    ),
    dialect(
        name="epsilon_on_squares_rate_as_given",
        point={"epsilon": "squares", "rate": "given", "factored": "largest"},
        origin="optax.adafactor without a decay",
        reference="optax/_src/factorized.py, _factored_dims, and alias.py, which scales by the learning rate alone",
        difference="R and C are of g^2 + eps1, along the two largest dimensions; the step is lr itself, whatever t is",
    ),
    dialect(
        name="epsilon_on_squares_decay_scaled",
        point={"epsilon": "squares", "rate": "given", "decay": "scaled"},
        origin="transformers.optimization.Adafactor(relative_step=False) and galore_torch, of fairseq's",
        reference="transformers/optimization.py, Adafactor.step, _get_lr and _approx_sq_grad",
        difference="R and C are of g^2 + eps1; the step is lr*max(eps2, RMS(w)), whatever t is, and so is the decay",
    ),
    dialect(
        name="epsilon_on_squares_decay_without_lr",
        point={"epsilon": "squares", "rate": "given", "factored": "largest", "decay": "without_lr"},
        origin="optax.adafactor with a decay, and Adafactor of flax.optim",
        reference="optax/_src/alias.py, adafactor, where add_decayed_weights comes behind the learning rate",
        difference="R and C are of g^2 + eps1, along the two largest dimensions; the step is lr itself; w loses wd*w",
    ),
    dialect(
        name="epsilon_on_squares_unscaled",
        point={"epsilon": "squares", "rate": "given", "scaled_by": "nothing", "factored": "first"},
        origin="timm.optim.Adafactor with a learning rate",
        reference="timm/optim/adafactor.py, Adafactor.step, _get_lr and _get_options",
        difference="R and C are of g^2 + eps1, along the first two dimensions; the step is lr, RMS(w) no part of it",
    ),
    dialect(
        name="epsilon_on_squares_step_as_given",
        point={"epsilon": "squares", "rate": "given", "scaled_by": "nothing"},
        origin="transformers.optimization.Adafactor(scale_parameter=False, relative_step=False), and ParlAI's",
        reference="transformers/optimization.py, Adafactor._get_lr; parlai/utils/fp16.py, where both are switched off",
        difference="R and C are of g^2 + eps1; the step is lr itself, whatever t and RMS(w) are",
    ),
    dialect(
        name="epsilon_on_squares_scaled_by_eps2",
        point={"epsilon": "squares", "rate": "given", "scaled_by": "eps2", "decay": "scaled"},
        origin="Adafactor(relative_step=False) of ColossalAI, whose state has an RMS of 0 in place of RMS(w)",
        reference="hpcaitech/ColossalAI, colossalai/nn/optimizer/adafactor.py, Adafactor.step and _get_lr",
        difference="R and C are of g^2 + eps1; the step is lr*eps2, whatever t and RMS(w) are, and so is the decay",
    ),
    settings=(
        Setting(
            {"beta2_decay": -0.3, "eps1": 0.1, "eps2": 0.001, "d": 1.25, "weight_decay": 0.5, "maximize": False},
            rates=(0.9, 0.9, 0.8, 0.8),
            sizes=(-1.0, 1.0),
            grads=(-1.0, 0.5),
            shapes=((4,), (2, 1, 2), (2, 2, 1), (1, 2, 2)),
        ),
    ),
)
